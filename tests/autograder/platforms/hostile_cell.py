"""A cell that tries every likely attack of a submission in a container."""

HOSTILE = """
import os, signal, json
log = open(LOG, "a")
def attempt(what, do):
    try:
        do()
        log.write("DONE " + what + "\\n")
    except BaseException as error:
        log.write("kept from " + what + ": " + type(error).__name__ + "\\n")
    log.flush()
root = ROOT
attempt("listing the source", lambda: os.listdir(root + "/source"))
attempt("reading the checks",
        lambda: open(root + "/source/autograder/checks/test_01_tiny.py").read())
attempt("reading the answers",
        lambda: open(root + "/source/solutions/tiny/scaling.py").read())
attempt("reading its own earlier results", lambda: os.listdir(root + "/results"))
attempt("writing the results",
        lambda: open(root + "/results/results.json", "w").write('{"score": 100}'))
attempt("writing run_autograder", lambda: open(root + "/run_autograder", "w"))
attempt("killing its parent", lambda: os.kill(os.getppid(), signal.SIGKILL))
attempt("killing all", lambda: os.kill(GRADER, signal.SIGKILL))
attempt("importing the checks",
        lambda: __import__("autograder.checks.test_01_tiny"))
print(json.dumps({"score": 100, "tests": []}))
if os.fork() == 0:
    os.setsid()
    while True:
        attempt_again = lambda: open(root + "/results/results.json", "w").write("{}")
        try: attempt_again()
        except OSError: pass
while True:
    pass
"""
