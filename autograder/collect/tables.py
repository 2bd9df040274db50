"""Read CSV tables from spreadsheets and platforms, and identify their columns.

If a table is ambiguous, this module does not guess. It refuses the table and names the
row and the remedy.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.atomic_write import text_of_table
from autograder.collect.incoming import CollectError
from autograder.collect.name_cleaning import letters
from autograder.collect.platform_names import PARTICIPANT

# The columns' names in nbgrader, Canvas, Moodle, Brightspace, Gradescope, Google
# Classroom and hand-made tables, in English, German, French, Spanish, Korean, Chinese
# and Japanese. Case, accents, spaces and punctuation are ignored.
ID_BY_HAND = """id; student id; student number; student no; matriculation number;
    Matrikelnummer; Matrikelnr; Matr.-Nr.; Matrikel; Studentennummer;
    numéro étudiant; numéro d'étudiant; n° étudiant; no étudiant; matricule;
    número de estudiante; número de alumno; matrícula; expediente;
    학번; 학생번호; 학생 ID; 学号; 學號; 学籍番号; 学生番号"""
ID_OF_A_PLATFORM = """username; user name; sis login id; login; login id; id number;
    netid; sid; OrgDefinedId; Kennung; Benutzername; Nutzername; Anmeldename;
    ID-Nummer; identifiant de connexion; nom d'utilisateur; numéro d'identification;
    nombre de usuario; usuario; número de ID; número de identificación;
    아이디; 사용자 아이디; 사용자명; ID 번호; 用户名; 使用者名稱; 账号; 帳號;
    ユーザ名; ユーザー名"""
HEADINGS = {
    "id": f"{ID_BY_HAND}; {ID_OF_A_PLATFORM}",
    "lms": "lms_user_id; canvas_id; canvas user id; user id; lms id",
    "first": """first_name; first name; given name; Vorname; Rufname; prénom; prénoms;
        nombres; nombre de pila""",
    "last": """last_name; last name; surname; family name; Nachname; Familienname;
        Zuname; nom de famille; apellido; apellidos; 성; 姓; 姓氏""",
    "name": """student; full name; student name; complete name; vollständiger name;
        nom complet; nom et prénom; nombre completo; nombre y apellidos;
        apellidos y nombre; 성명; 전체 이름; 이름(전체); 학생 이름; 姓名; 全名; 氏名""",
    # The whole name, or the part of it without its own column.
    "name or a part": "name; nom; nombre; 이름; 名; 名字; 名前",
    "email": """email; email address; e-mail; mail; mail address; E-Mail-Adresse;
        Mailadresse; courriel; adresse e-mail; adresse électronique; adresse mail;
        adresse de courriel; correo; correo electrónico; dirección de correo;
        dirección de correo electrónico; dirección email; 이메일; 이메일 주소; 메일;
        전자우편; 전자메일; 邮箱; 电子邮件; 电子邮箱; 电子邮件地址; 電子郵件;
        電郵; 信箱;
        メールアドレス; メール""",
    "github": """github_username; github; git; github login; github account;
        GitHub-Benutzername; GitHub-Name; compte github; usuario de github;
        깃허브; 깃허브 아이디; github 아이디; github 用户名""",
    "participant": "identifier; identificador; identifiant",  # in Moodle's worksheet
    "team": """team; team name; group; group name; groups; Gruppe; Gruppenname; groupe;
        équipe; grupo; equipo; 팀; 조; 모둠; 그룹; 组; 小组; 分组; 組; 小組;
        グループ; チーム""",
    "section": "section; sections",  # in Canvas
}
# Columns of platforms that collecting does not need.
NOT_NEEDED = """sis user id; root account; status; grade; maximum grade;
    grade can be changed; last modified (submission); last modified (grade);
    feedback comments; online text; role; roles; last access; notes; points; score;
    total score; max points; submission id; submission time; view count;
    end-of-line indicator; institution; department; 비고; 학과; 학년; 备注;
    Status; Bewertung; Bestwertung; Studiengang; Abschluss; Fachsemester; Bemerkung"""
NOT_NEEDED_ON_CANVAS = re.compile(
    r".*\(\d+\)|.*\b(?:current|final|unposted)\b.*\b(?:score|grade|points)", re.I
)
INVISIBLE = re.compile("[\ufeff\u200b\u200e\u200f\u2060\u00ad]")
AS_TEXT = re.compile(r'="(.*)"|\'(.*)', re.DOTALL)  # how Excel stores 007 as text
SHORTENED = re.compile(
    r"\d+(?:[.,]\d+)?E\+?\d+|\d+[.,]0+|=.*|#+|#(?:ref|n/a|value|name|num|null|div/0)\W?",
    re.I,
)
SEPARATORS = ",;\t"
MOST_NAMED = 12  # maximum number of column names in a message


@dataclass(frozen=True)
class Table:
    """Hold a table and the kind of content in each column.

    Attributes:
        columns: maps each kind of content to the column's heading.
        rows: pairs of the row number in a spreadsheet and the row's cells.
        heading: the first row, for messages.
        unknown: the headings that we do not recognise.
        of_canvas: the headings of assignments and totals in a Canvas export.
    """

    columns: dict[str, str]
    rows: list[tuple[int, dict[str, str]]]
    heading: str
    unknown: list[str] = field(default_factory=list)
    of_canvas: list[str] = field(default_factory=list)

    def words_about_unknown(self) -> str:
        """List the columns that were not read, or return "" if there are none."""
        named = ", ".join(repr(one) for one in self.unknown[:MOST_NAMED])
        rest = len(self.unknown) - MOST_NAMED
        more = f" and {rest} more" if rest > 0 else ""
        return f"these columns were not read: {named}{more}" if named else ""


def read_table(path: Path, more: Mapping[str, str] | None = None) -> Table:
    """Read a CSV file with a heading.

    Args:
        path: the file.
        more: additional headings, in the form of `HEADINGS`.

    Raises:
        CollectError: if the file cannot be read, or if a row does not fit the heading.
    """
    text = _text(path)
    wanted = {**HEADINGS, **(more or {})}
    separator = _separator(text, wanted)
    if re.match(r"sep=.\n", text):
        text = f"\n{text.partition(chr(10))[2]}"
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        numbered = [
            (n, row) for n, row in enumerate(lines, 1) if any(map(str.strip, row))
        ]
    except csv.Error as error:
        raise CollectError(
            f"{path}, line {lines.line_num}: {error}: look for a quotation mark that "
            "is not closed."
        ) from None
    heading, *body = numbered or [(1, [])]
    names = [_plain(cell) for cell in heading[1]]
    places = _places(path, names, wanted, [row for _, row in body])
    rows = []
    for number, row in body:
        if any(map(str.strip, row[len(names) :])):
            raise CollectError(
                f"{path}, row {number} has {len(row)} cells, but the heading has "
                f"{len(names)}: put a cell that holds a {separator!r} into quotation "
                "marks."
            )
        cells = [_plain(cell) for cell in row] + [""] * (len(names) - len(row))
        rows.append((number, {key: cells[at] for key, at in places.items()}))
    not_needed = set(_keys(NOT_NEEDED))
    is_of_canvas = "sisuserid" in map(letters, names)
    of_canvas = [
        name for name in names if is_of_canvas and NOT_NEEDED_ON_CANVAS.fullmatch(name)
    ]
    unknown = [
        name
        for at, name in enumerate(names)
        if name and at not in places.values() and letters(name) not in not_needed
        and name not in of_canvas
    ]  # fmt: skip
    columns = {key: names[at] for key, at in places.items()}
    return Table(columns, rows, separator.join(names), unknown, of_canvas)


def refuse_shortened(path: Path, row: int, column: str, text: str) -> None:
    """Refuse a number that a spreadsheet rounded, such as `2.02612E+11`.

    Raises:
        CollectError: if the text is a rounded number or the error of a formula.
    """
    if SHORTENED.fullmatch(text):
        raise CollectError(
            f"{path}, row {row}: {column} {text!r} is a number that a "
            "spreadsheet has changed: give the column the format `Text`, and enter or "
            "import it again."
        )


def _text(path: Path) -> str:
    """Return the text of a table.

    Raises:
        CollectError: if the file cannot be read. The message gives the remedy.
    """
    try:
        begin = path.read_bytes()[:8] if path.is_file() else b""
        if begin.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
            raise CollectError(
                f"{path} is a workbook (such as .xlsx), not a CSV file: save it as "
                "`CSV UTF-8`."
            )
        text = text_of_table(path)
    except FileNotFoundError:
        raise CollectError(f"{path} is not there: look at the path.") from None
    except UnicodeDecodeError:
        raise CollectError(
            f"{path} is not in UTF-8: save it again, in Excel as `CSV UTF-8`."
        ) from None
    except OSError as error:
        raise CollectError(f"{path} cannot be read: {error.strerror}.") from None
    if "\0" in text:
        raise CollectError(f"{path} is not a text: save the table as `CSV UTF-8`.")
    return text


def _plain(cell: str) -> str:
    """Return a cell without invisible characters and Excel's marks for text."""
    text = INVISIBLE.sub("", cell).strip()
    found = AS_TEXT.fullmatch(text)
    return (found[1] or found[2] or "").strip() if found else text


def _separator(text: str, wanted: Mapping[str, str]) -> str:
    """Return the separator that gives the most known headings, or the most cells."""
    if found := re.match(r"sep=(.)\n", text):
        return found[1]
    first = next((line for line in text.splitlines() if line.strip()), "")
    known = {key for headings in wanted.values() for key in _keys(headings)}

    def fit(separator: str) -> tuple[int, int]:
        cells = next(csv.reader([first], delimiter=separator), [])
        return sum(letters(cell) in known for cell in cells), len(cells)

    return max(SEPARATORS, key=fit)


def _keys(headings: str) -> list[str]:
    """Return the headings in the form that is used for comparisons."""
    return [letters(one) for one in headings.split(";")]


def _places(
    path: Path,
    names: list[str],
    wanted: Mapping[str, str],
    body: Sequence[Sequence[str]],
) -> dict[str, int]:
    """Return the position of each kind of column.

    In files from Canvas, `ID` is Canvas's number, and the login is the student's id.

    Raises:
        CollectError: if two columns have the same heading.
    """
    plain = [letters(name) for name in names]
    found: dict[str, int] = {}
    for key, headings in wanted.items():
        known = next((one for one in _keys(headings) if one in plain), None)
        if known is None:
            continue
        if plain.count(known) > 1:
            name = names[plain.index(known)]
            raise CollectError(f"{path} has two columns {name!r}: rename one of them.")
        found[key] = plain.index(known)
    if "sisloginid" in plain:
        found["id"] = plain.index("sisloginid")
        if "id" in plain:
            found["lms"] = plain.index("id")
    if "id" in found and _are_participants(body, found["id"]):
        found["participant"] = found.pop("id")
    at = found.get("participant")
    if at is not None and "id" not in found and not _are_participants(body, at):
        found["id"] = found.pop("participant")  # in French, `Identifiant` is a login
    either = found.pop("name or a part", None)
    if either is not None and "name" not in found:
        has = {"first", "last"} & set(found)
        if len(has) < 2:
            missing = {"first", "last"} - has if has else {"name"}
            found[missing.pop()] = either
    return found


def _are_participants(body: Sequence[Sequence[str]], at: int) -> bool:
    """Return whether a column contains `Participant 71`, as Moodle's does."""
    cells = [_plain(row[at]) for row in body if len(row) > at and row[at].strip()]
    pattern = re.compile(f"{PARTICIPANT.pattern}\\s*\\d+", re.I)
    return bool(cells) and all(pattern.fullmatch(cell) for cell in cells)
