"""In a whole class, groups that copied become clusters, and honest students do not."""

import csv
from pathlib import Path

import nbformat
import pytest
from generated_class import UNIT_04, GeneratedClass
from tiny_grading import UNIT, only, submission
from typer.testing import CliRunner

from autograder.classroom.known_solutions import near_known, read_known
from autograder.classroom.similar_answers import sources_in
from autograder.classroom.similarity import ComparedClass, Pair, clusters_of, tokens_of
from autograder.classroom.similarity_report import SimilarityReport
from autograder.commands import similar as command
from autograder.commands.app import app
from autograder.repair.slots import top_names

SIZES = (5, 4, 3)


@pytest.fixture(scope="module")
def generated() -> GeneratedClass:
    return GeneratedClass(seed=0)


def test_three_groups_of_copies_are_found_and_nobody_else(generated, tmp_path):
    given = sources_in(generated.sample.unit.released, generated.sample.unit)
    groups, answers = [], {}
    for size in SIZES:
        original = generated.answers()
        copies = [original, *(generated.copied(original) for _ in range(size - 1))]
        groups.append([f"student-{len(answers) + n:03}" for n in range(size)])
        answers |= dict(zip(groups[-1], copies, strict=True))
    assert answers["student-000"] != answers["student-001"]
    while len(answers) < 100:
        answers[f"student-{len(answers):03}"] = generated.answers()
    tokens = {
        student: {name: tokens_of(own[name], given[name]) for name in own}
        for student, own in answers.items()
    }
    compared = ComparedClass(tokens, 0.8)
    public = "\n\n".join(generated.copied(answers["student-000"]).values())
    (tmp_path / "public.py").write_text(public)
    known = read_known(tmp_path, "\n\n".join(given.values()))
    names = {name: set(top_names(source)) for name, source in given.items()}
    near = near_known(compared, tokens, known, names)
    assert sorted(one.student for one in near) == groups[0]
    report = SimilarityReport(UNIT_04, compared, near=near)
    assert report.clusters == groups
    _, table = report.write(tmp_path)
    with table.open(encoding="utf-8-sig") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert len(rows) == 100
    assert {one for one, row in rows.items() if row["cluster"] == "3"} == set(groups[2])
    assert rows["student-011"]["nearest other student"] in groups[2]
    assert float(rows["student-011"]["similarity"]) > 0.95


def test_answers_that_many_students_write_link_nobody():
    """Two thirds of this class hand in one of two answers. All students are honest."""
    one = "def f(x):\n" + "    x = x + 1\n" * 9 + "    return x"
    other = "def f(x):\n" + "    x = max(x, 2) * x\n" * 7 + "    return x"
    own = [
        f"def f(x):\n    return [{', '.join(f'x.a{n}({k})' for k in range(12))}]"
        for n in range(10)
    ]
    sources = [one] * 10 + [other] * 10 + own
    answers = {
        f"s{n:02}": {"first": tokens_of(source), "second": tokens_of(source)}
        for n, source in enumerate(sources)
    }
    compared = ComparedClass(answers, 0.8)
    assert len(compared.pairs()) >= 90  # with equal answers
    assert not any(pair.is_linked for pair in compared.pairs())


def test_clusters_are_connected_by_links():
    links = [
        Pair((one, other), 1, 1, 0, (), 0, is_linked=True)
        for one, other in ("ab", "de", "bc", "ef", "ad", "xy")
    ]
    assert clusters_of(links) == [list("abcdef"), list("xy")]
    assert clusters_of([]) == []


KNOWN = """
class Doubling:
    def twice(self, values, least=0):
        # somebody published this
        total = values.clone()
        for place in range(values.size(0)):
            total[place] = values[place].add(values[place]).clamp(min=least)
        return total.where(total > least, total.mul(2)).reshape(values.shape)
"""
COPY = """
def double(x, low=0):
    out = x.clone()
    for i in range(x.size(0)):
        out[i] = x[i].add(x[i]).clamp(min=low)
    return out.where(out > low, out.mul(2)).reshape(x.shape)
"""


def with_answer(root: Path, student: str, source: str) -> None:
    path = submission(root, student)
    notebook = nbformat.read(path, 4)
    next(cell for cell in notebook.cells if cell.id == "double").source = source
    nbformat.write(notebook, path)


def test_a_student_near_a_known_solution_is_listed_with_the_file(classroom, tmp_path):
    only(classroom, "perfect-one", "perfect-two", "mistake-1")
    with_answer(classroom, "mistake-1", COPY)
    known = tmp_path / "known"
    (known / "forum").mkdir(parents=True)
    cell = nbformat.v4.new_code_cell(f"%matplotlib inline\n{KNOWN}")
    notebook = nbformat.v4.new_notebook(cells=[cell])
    nbformat.write(notebook, known / "forum" / "answer.ipynb")
    (known / "other.py").write_text("def other(x):\n    return x\n")
    (known / "broken.py").write_bytes(b"\xff\xfe\xff")
    arguments = ["similar", UNIT, "--course-root", str(classroom)]
    done = CliRunner().invoke(app, [*arguments, "--known", str(known)])
    assert done.exit_code == 0, done.output
    told = " ".join(done.output.split())
    assert "Near a known solution: mistake-1 (forum/answer.ipynb)." in told
    assert "broken.py (UnicodeDecodeError)" in told
    page = (classroom / "report" / f"{UNIT}-similar.html").read_text()
    assert "forum/answer.ipynb" in page
    empty = CliRunner().invoke(app, [*arguments, "--known", str(tmp_path / "no")])
    assert empty.exit_code == 2
    assert "expected a folder with notebooks" in empty.output


def test_a_known_file_is_read_and_not_executed(tmp_path):
    marker = tmp_path / "marker"
    text = f"open({str(marker)!r}, 'w')\n\n\ndef f(x):\n    return x\n"
    (tmp_path / "known.py").write_text(text)
    (known,) = read_known(tmp_path, "")
    assert known.defined == {"f"} and not marker.exists()


def test_at_most_20_lines_name_whole_ids(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    tokens = tokens_of(COPY)
    names = [f"a-long-id-of-a-student-{n:03}@university.example" for n in range(90)]
    same = [names[n : n + 3] for n in range(0, 90, 3)]
    compared = ComparedClass({own[0]: {"double": tokens} for own in same}, 0.8)
    near = ()
    report = SimilarityReport(UNIT, compared, same, near, {"x": "y"}, frozenset("ab"))
    command._tell(report, 90, [Path("page.html"), Path("table.csv")])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 20
    assert max(map(len, lines)) <= 80
    assert "More clusters are on the page." in lines
    assert all(name in "\n".join(lines) for name in same[0] + same[1])


def test_a_hostile_id_is_text_on_the_page_and_in_the_table(tmp_path):
    compared = ComparedClass({"=1+1": {}, "<script>": {}}, 0.8)
    report = SimilarityReport(UNIT, compared, [["=1+1", "<script>"]])
    page, table = report.write(tmp_path)
    assert "<script>" not in page.read_text()
    assert "&lt;script&gt;" in page.read_text()
    assert "\n'=1+1," in table.read_text(encoding="utf-8-sig")
