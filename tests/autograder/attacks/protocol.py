"""Attacks on the connection to the grader: forged, torn, late and endless messages."""

from handing_in import SHAPE, Collection, HandIn

ATTACKS = Collection()
CHANNEL = """
import gc, json, os, socket, struct, threading, time
from student_side.messages import Channel, Message
channel = next(thing for thing in gc.get_objects() if type(thing) is Channel)
def frame(body, blob=b"", magic=b"ATG1"):
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return struct.pack(">4sIQ", magic, len(text), len(blob)) + text + blob
def write(data): channel.connection.sendall(data)
"""

ATTACKS.cells(
    "answers before it is asked, or something else than it was asked",
    0.0,
    answers_in_advance=CHANNEL + "write(frame({'ok': True}) * 500)",
    cell_reports_in_advance=CHANNEL
    + "write(frame({'ran': {'dict': [['outputs', {'list': []}]]}}) * 500)",
    answers_from_a_thread=CHANNEL
    + """
def later():
    while True:
        write(frame({"ok": {"tensor": ["float32", [2, 3], None, 0]}}, b"\\0" * 24))
        time.sleep(0.001)
threading.Thread(target=later, daemon=True).start()
""",
    answers_from_a_twin=CHANNEL
    + """
if os.fork() == 0:
    while True:
        write(frame({"ok": None}))
""",
    refuses_to_begin=CHANNEL
    + """
from student_side.requests import Session
real = Session.answer
def answer(self, request):
    if "begin" in json.dumps(request.body):
        return Message({"error": {"dict": [["kind", "raised"], ["message", "no"]]}})
    return real(self, request)
Session.answer = answer
""",
    names_of_the_grader=CHANNEL
    + """
from student_side.requests import Session
forms = iter([{"load": ["os.system", None]}, {"name": ["checks", None]},
              {"callback": [0, None]}, {"handle": ["x", {"list": []}]}] * 100)
Session.answer = lambda self, request: Message({"ok": next(forms)})
""",
    questions_never_allowed=CHANNEL
    + """
def ask(key, method):
    question = {"key": key, "method": method, "args": {"list": []},
                "kwargs": {"dict": []}}
    pairs = {"dict": [[name, value] for name, value in question.items()]}
    channel.send(Message({"callback": pairs}))
    return channel.receive()
def double(x): return ask(0, "__globals__")
def quadruple(x): return ask(-1, "__call__")
def Scaler(size): return ask(0, "__class__")
""",
    torn_and_garbled=CHANNEL
    + """
def double(x): write(b"GET / HTTP/1.1\\r\\n\\r\\n")
def quadruple(x): write(frame({"ok": 1})[:-3]); channel.connection.close()
def Scaler(size): write(frame(b"{not json"))
""",
    huge_header=CHANNEL
    + """
def double(x): write(struct.pack(">4sIQ", b"ATG1", (1 << 32) - 1, (1 << 64) - 1))
def quadruple(x): write(frame(b"[" * 4_000_000))
def Scaler(size): write(frame(b'{"ok": ' + b"9" * 4_000_000 + b"}"))
""",
    tensors_that_are_none=CHANNEL
    + """
from student_side.requests import Session
forms = iter([["float32", [1 << 31, 1 << 31], None, 0], ["float32", [-1], None, 0],
              ["object", [1], None, 0], ["float32", [2, 3], None, 1 << 60]] * 100)
Session.answer = lambda self, request: Message({"ok": {"tensor": next(forms)}})
""",
    many_small_values=CHANNEL
    + """
from student_side.requests import Session
wide = {"list": [0] * 2_000_000}
Session.answer = lambda self, request: Message({"ok": wide})
""",
    drips=CHANNEL
    + """
def double(x):
    for byte in frame({"ok": "x" * 10_000}):
        write(bytes([byte]))
        time.sleep(0.05)
""",
    stops_listening=CHANNEL
    + "channel.connection.shutdown(socket.SHUT_RD)\ndef double(x): time.sleep(99)",
    closes_everything="import os\nos.closerange(0, 256)",
)
ATTACKS.cells(
    "reads the requests to know which check asks",
    SHAPE,
    reads_the_requests=CHANNEL
    + """
from student_side.requests import Session
asked, real = [], Session.answer
def answer(self, request):
    asked.append(json.dumps(request.body))
    return real(self, request)
Session.answer = answer
def double(x): return x + len(asked)
""",
)


@ATTACKS.case("forges a cell's report with thousands of outputs", score=20.0)
def forged_outputs(hand: HandIn) -> None:
    hand.right("double")
    forge = """
from student_side import serving
def many(request, runner):
    item = {"dict": [["output_type", "stream"], ["name", "stdout"], ["text", "x" * 50]]}
    report = {"dict": [["outputs", {"list": [item] * 50_000}], ["seconds", 1e999]]}
    return serving.Message({"ran": report})
serving._run_cell = many
"""
    hand.first(forge)
    for number in range(5):
        hand.last(f"more = {number}")
