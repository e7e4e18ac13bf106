"""Tables by a schema: read, refused, and shown in words again."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from biaslab.classifiers import encoding
from biaslab.classifiers.encoding import decode, read_table
from biaslab.classifiers.schema import Bins, Category, Integer, load_schema
from biaslab.core.errors import InputError
from properties import examples
from refusals import refused

CLASSIFIERS = Path(__file__).parents[3] / "workflow/resources/classifiers"
GOOD = {
    "protected": ["sex", "age"],
    "attributes": [
        {"name": "age", "kind": "integer", "low": 1, "high": 9, "divide_by": 10, "clip": True},
        {"name": "sex", "column": "status", "kind": "category", "values": [{"male": ["M1", "M2"]}, "female"]},
        {"name": "income", "kind": "bins", "edges": [1000, 2500.5]},
        {"name": "debts", "kind": "integer", "low": 0, "high": 3},
    ],
    "label": {"column": "class", "classes": ["bad", "good"]},
}
COLUMNS = ["age", "status", "income", "debts", "class"]
ROWS = """\
status,age,unused,income,debts,class
M2,39,x,999.5,0,good
female,7,y,1000,3,bad

M1, 120,"z, z",1e4,1.0,good
"""


@pytest.fixture
def schema(tmp_path):
    """Write the schema with some keys changed; None drops one."""

    def write(**changes):
        keys = {key: value for key, value in {**GOOD, **changes}.items() if value is not None}
        path = tmp_path / "schema.yaml"
        path.write_text(yaml.safe_dump(keys, sort_keys=False))
        return path

    return write


@pytest.fixture
def table(tmp_path):
    def write(text=ROWS):
        path = tmp_path / "data.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def attribute(**changes):
    """The attributes of the good schema, the last one changed."""
    return [*GOOD["attributes"][:-1], {**GOOD["attributes"][-1], **changes}]


def test_reads_what_the_schema_says(schema, table):
    described = load_schema(schema())
    data = read_table(table(), described)
    assert data.X.tolist() == [[3, 0, 0, 0], [1, 1, 1, 3], [9, 0, 2, 1]]
    assert data.X.dtype == np.int32
    assert data.y.tolist() == [1, 0, 1]
    assert data.y.dtype == np.int64
    assert (data.n_outside, data.n_missing) == (0, 0)
    assert described.classes == ("bad", "good")
    assert described.protected == ("sex", "age")
    assert described.domain.names == ("age", "sex", "income", "debts")
    assert described.domain.low.tolist() == [1, 0, 0, 0]
    assert described.domain.high.tolist() == [9, 1, 2, 3]


def test_counts_what_clip_moves_and_rows_with_blanks_around_a_value(schema, table):
    data = read_table(table(), load_schema(schema()))
    assert data.clipped.tolist() == [False, True, True]  # ages 7 and 120 in decades of 1 to 9
    assert data.n_trimmed == 1
    text = 'status,age,unused,income,debts,class\nfemale ,39,"a, b",5,0,good\nM1,40,"a, b","5 ",0,bad\n'
    data = read_table(table(text + "M1,40,x, 5,0,bad\nM1,40,x,5,0,bad\n"), load_schema(schema()))
    assert data.n_trimmed == 3
    assert not data.clipped.any()


def test_samples_are_shown_in_the_words_of_the_table(schema, table):
    described = load_schema(schema())
    words = decode(read_table(table(), described).X, described)
    assert words.to_dict("list") == {
        "age": ["30-39", "up to 19", "90 or more"],
        "sex": ["male", "female", "male"],
        "income": ["below 1000", "1000 to below 2500.5", "2500.5 or more"],
        "debts": ["0", "3", "1"],
    }
    assert Integer("a", "a", -2, 2, divide_by=50).word(-3) == "-150 to -101"
    assert Category("a", "a", ("x", "y"), {}).word(-1) == "-1 (no value)"


def test_the_table_is_read_in_chunks_and_with_windows_lines(schema, table, monkeypatch):
    described = load_schema(schema())
    expected = read_table(table(), described).X.tolist()
    windows = read_table(table(("\ufeff" + ROWS.replace("\n", "\r\n")).encode()), described)
    monkeypatch.setattr(encoding, "CHUNK_ROWS", 1)
    assert read_table(table(), described).X.tolist() == windows.X.tolist() == expected


@pytest.mark.parametrize(
    ("keys", "head", "separator"),
    [
        ({"separator": ";"}, "age,status,income,debts,class", ";"),
        ({"separator": "tab"}, "age,status,income,debts,class", "\t"),
        ({"separator": "whitespace"}, "age,status,income,debts,class", "  "),
        ({"columns": COLUMNS, "header": False, "comment": "#"}, "# made", ","),
        ({"columns": COLUMNS}, "a,b,c,d,e", ","),
    ],
)
def test_separators_and_columns_are_those_of_the_schema(schema, table, keys, head, separator):
    path = table(f"{head}\n39,M1,5,2,good\n".replace(",", separator))
    assert read_table(path, load_schema(schema(**keys))).X.tolist() == [[3, 0, 0, 2]]


def test_coded_values_are_taken_as_they_are(schema, table):
    coded = [{**a, "coded": True} if a["kind"] != "bins" else a for a in GOOD["attributes"]]
    label = {**GOOD["label"], "coded": True}
    described = load_schema(schema(attributes=coded, label=label, outside="keep"))
    data = read_table(table("age,status,income,debts,class\n3,1,5,2,1\n9,100,5,2,0\n"), described)
    assert data.X.tolist() == [[3, 1, 0, 2], [9, 100, 0, 2]]
    assert data.y.tolist() == [1, 0]
    assert data.n_outside == 1
    assert decode(data.X, described)["sex"].tolist() == ["female", "100 (no value)"]
    with pytest.raises(InputError, match="line 2: class '2' is not one of the 2 classes"):
        read_table(table("age,status,income,debts,class\n3,1,5,2,2\n"), described)


def test_missing_values_are_left_out_unless_they_are_a_value(schema, table):
    sex = {**GOOD["attributes"][1], "values": ["male", {"unknown": ["?"]}]}
    attributes = [GOOD["attributes"][0], sex, *GOOD["attributes"][2:]]
    described = load_schema(schema(attributes=attributes, missing=["?", ""]))
    data = read_table(
        table("age,status,income,debts,class\n?,male,5,2,bad\n39,?,5,2,good\n39,male,,2,good\n"), described
    )
    assert data.X.tolist() == [[3, 1, 0, 2]]
    assert data.y.tolist() == [1]
    assert data.n_missing == 2


@given(st.data())
@examples(100)
def test_words_name_what_was_encoded(data):
    """A number lies in the range that it is shown as; a category's word is encoded to its place."""
    whole = st.integers(-(10**6), 10**6)
    low = data.draw(whole)
    number = data.draw(whole)
    integer = Integer("a", "a", low, low + data.draw(st.integers(1, 50)), data.draw(st.integers(1, 999)))
    shown = integer.word(integer.code(str(number)))
    first, _, last = shown.partition(" to ") if " to " in shown else shown.rpartition("-")
    ends = (int(first or shown), int(last)) if last and first else (int(shown), int(shown))
    assert ends[0] <= number <= ends[1]
    assert ends[1] - ends[0] == integer.divide_by - 1
    edges = sorted(data.draw(st.sets(whole, min_size=1, max_size=5)))
    bins = Bins("b", "b", tuple(map(float, edges)))
    code = bins.code(str(number))
    assert code == sum(edge <= number for edge in edges)
    values = data.draw(st.lists(st.text(min_size=1).filter(str.strip), min_size=1, unique=True))
    category = Category("c", "c", tuple(values), {value: k for k, value in enumerate(values)})
    assert [category.word(category.code(value)) for value in values] == values


@given(data=st.data())
@examples(25)
def test_a_table_comes_back(data, tmp_path_factory):
    """Samples of a domain without ranges, written as their words, are read as themselves."""
    folder = tmp_path_factory.mktemp("round")
    values = st.lists(
        st.from_regex(r"([a-z?,;\"' ]*[a-z?])?", fullmatch=True), min_size=1, max_size=4, unique_by=str.strip
    )
    kinds = data.draw(st.lists(st.one_of(values, st.integers(-9, 9)), min_size=1, max_size=4))
    attributes = [
        {"name": f"a{k}", "kind": "category", "values": kind}
        if isinstance(kind, list)
        else {"name": f"a{k}", "kind": "integer", "low": kind, "high": kind + 2}
        for k, kind in enumerate(kinds)
    ]
    attributes.append({"name": "p", "kind": "category", "values": ["x", "y"]})
    keys = {"protected": ["p"], "attributes": attributes, "label": {"column": "c", "classes": ["n", "m"]}}
    path = folder / "schema.yaml"
    path.write_text(yaml.safe_dump(keys))
    described = load_schema(path)
    domain = described.domain
    X = domain.draw(5, np.random.default_rng(data.draw(st.integers(0, 999))))
    decode(X, described).assign(c="m").to_csv(folder / "data.csv", index=False)
    assert read_table(folder / "data.csv", described).X.tolist() == X.tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "data.csv: the file is empty"),
        ("age,status,income,debts,class\n", "data.csv: the file has no rows"),
        (b"\xff\xfe\x00", "in UTF-16; save it as text in UTF-8"),
        (ROWS + "M1,39,x,5,0,go", "the last line has no end, so that it may be cut"),
        ("age,status,income,class\n1,2,3,4\n", "no column 'debts' (it has age, status, income, class)"),
        ("age,state,income,debts,class\n1,2,3,4,5\n", "no column 'status'.*did you mean 'state'"),
        ("age,age,status,income,debts,class\n", "the column 'age' appears twice"),
        (ROWS + "M1,39,good\n", "line 6: expected 6 fields, found 3"),
        (ROWS + "M1,old,x,5,0,good\n", "line 6: age 'old' is not a number"),
        (ROWS + "M1,39.5,x,5,0,good\n", "line 6: age '39.5' is not an integer; describe"),
        (ROWS + "M1,39,x,inf,0,good\n", "line 6: income 'inf' is not a number"),
        (ROWS + "femal,39,x,5,0,good\n", "line 6: sex 'femal' is not one of the values M1, .*did you mean"),
        (ROWS + "M1,39,x,5,4,good\n" * 3, "line 6 and 2 more: debts '4' is outside 0 to 3; .*outside: keep"),
        (ROWS + "M1,39,x,5,9999999999999,good\n", "line 6: debts '9999999999999' is too large"),
        (ROWS + "M1,39,x,5,0,maybe\n" * 2, "line 6 and 1 more: class 'maybe' is not one of the values"),
        (ROWS + 'M1,39,"x,5,0,good\n' + "y" * 200_000 + "\n", "not a table"),
    ],
)  # fmt: skip
def test_bad_tables(schema, table, text, message):
    described = load_schema(schema())
    pattern = message.replace("(", r"\(").replace(")", r"\)")
    with refused(pattern):
        read_table(table(text), described)


def test_tables_that_this_schema_alone_refuses(schema, table, tmp_path):
    rows = "age,status,income,debts,class\n?,M1,5,2,good\n"
    with pytest.raises(InputError, match="a value is missing in every row"):
        read_table(table(rows), load_schema(schema(missing=["?"])))
    described = load_schema(schema(attributes=attribute(divide_by=10)))
    with pytest.raises(InputError, match="debts '45', encoded 4, is outside 0 to 3"):
        read_table(table(ROWS + "M1,39,x,5,45,good\n"), described)
    with pytest.raises(InputError, match="no such file"):
        read_table(tmp_path / "none.csv", described)
    with pytest.raises(InputError, match="cannot be read"):
        read_table(tmp_path, described)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"protected": None}, "the key 'protected' is missing"),
        ({"protected": []}, "protected: is empty"),
        ({"protected": ["gender"]}, "protected: there is no attribute 'gender'"),
        ({"protected": ["sex", "sex"]}, "names something twice"),
        ({"attributes": None}, "the key 'attributes' is missing"),
        ({"attributes": ["age"]}, "is not a mapping"),
        ({"attributes": [{"name": "age"}]}, "attributes: age: the key 'kind' is missing"),
        ({"attributes": attribute(kind="number")}, 'kind: "number" is not known'),
        ({"attributes": attribute(divide_by=0)}, "debts: divide_by: 0 is less than 1"),
        ({"attributes": attribute(divid_by=2)}, "unknown key; did you mean 'divide_by'"),
        ({"name": "x"}, "name: unknown key"),
        ({"attributes": attribute(low="a")}, 'low: "a" is not a whole number'),
        ({"attributes": attribute(low=5)}, "debts: low exceeds high"),
        ({"attributes": attribute(high=10**10)}, "is more than 2147483647"),
        ({"attributes": attribute(clip="yes")}, 'clip: "yes" is not true or false'),
        ({"attributes": attribute(name="a,b")}, "a name without commas"),
        ({"attributes": [{"name": "x", "kind": "bins", "edges": [2, 1]}]}, "2, 1 do not rise"),
        ({"attributes": [{"name": "x", "kind": "category", "values": []}]}, "is empty"),
        ({"attributes": [{"name": "x", "kind": "category", "values": [False]}]}, "false in quotes"),
        ({"attributes": [{"name": "x", "kind": "category", "values": ["a", "a"]}]}, "'a' appears twice"),
        ({"attributes": [{"name": "x", "kind": "category", "values": ["a", {"b": ["a"]}]}]}, "means two"),
        ({"attributes": attribute(column="class")}, "debts: is the column of the label"),
        ({"label": {"column": "class", "classes": ["good"]}}, "there is one class"),
        ({"header": False}, "columns: the key is missing"),
        ({"columns": ["age", "status", "income", "debt", "class"]}, "has no 'debts'; did you mean 'debt'"),
        ({"outside": "ignore"}, '"ignore" is not known'),
        ({"attributes": attribute(high=1000), "protected": ["debts"]}, "1001 values, more than 1000"),
        ({"attributes": attribute(high=0), "protected": ["debts"]}, "'debts' has a single value"),
    ],
)  # fmt: skip
def test_bad_schemas(schema, changes, message):
    with pytest.raises(InputError, match=r"schema\.yaml") as caught:
        load_schema(schema(**changes))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_set_that_names_an_attribute_twice_is_refused(schema):
    with pytest.raises(InputError, match=r"protected attributes \[sex, sex\]: name at least one, and each"):
        load_schema(schema()).protect(["sex", "sex"])


@pytest.mark.parametrize(("name", "message"), [("none", "No such file"), ("list", "holds no mapping")])
def test_no_schema_is_refused(tmp_path, name, message):
    (tmp_path / "list.yaml").write_text("- a\n")
    with pytest.raises(InputError, match=message):
        load_schema(tmp_path / f"{name}.yaml")


def test_the_registered_classifiers_have_the_attributes_of_their_data():
    names = ("census", "bank", "credit", "adult", "german")
    described = {name: load_schema(CLASSIFIERS / f"{name}.yaml") for name in names}
    sizes = {name: schema.domain.n_attributes for name, schema in described.items()}
    assert list(sizes.values()) == [13, 16, 20, 12, 20]
    assert described["census"].protected == ("age", "race", "sex")


def test_raw_rows_of_the_uci_files_are_read(tmp_path):
    adult, german = tmp_path / "adult", tmp_path / "german"
    adult.write_text(
        "|1x3 Cross validator\n"
        "17, ?, 77516, Bachelors, 13, Never-married, ?, Own-child, Black, Male, 2174, 0, 40, ?, >50K\n"
        "90, Private, 1, 10th, 6, Widowed, Sales, Wife, White, Female, 99999, 4356, 99, Hong, <=50K.\n\n"
    )
    german.write_text(
        "A11 6 A34 A43 1169 A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1\n"
        "A12 48 A32 A410 25000 A61 A73 2 A92 A101 2 A121 22 A143 A152 1 A173 1 A191 A202 2 \n"
    )
    data = read_table(adult, load_schema(CLASSIFIERS / "adult.yaml"))
    assert data.y.tolist() == [1, 0]
    assert data.X.tolist() == [
        [1, 8, 13, 2, 14, 1, 4, 1, 2, 0, 40, 41],
        [9, 0, 6, 4, 3, 0, 0, 0, 99, 39, 99, 39],
    ]
    described = load_schema(CLASSIFIERS / "german.yaml")
    data = read_table(german, described)
    assert data.y.tolist() == [1, 0]
    words = decode(data.X, described)[["sex", "age", "purpose", "credit-amount"]].to_numpy().tolist()
    assert words == [
        ["male", "60-69", "radio or television", "1100-1199"],
        ["female", "20-29", "others", "20000 or more"],
    ]
