from functools import partial

import pytest

from audit_data import CLAIM, COLUMNS, SCHEMA, write_registry
from biaslab.audit.claims import read_claims
from biaslab.core.errors import InputError
from biaslab.core.files import read_text_table


@pytest.fixture
def registry(tmp_path):
    return partial(write_registry, tmp_path / "claims.tsv")


def test_a_row_becomes_a_claim(registry):
    rows = CLAIM, CLAIM | {"claim_id": "a", "setup": "any"}, CLAIM | {"claim_id": "b", "setup": "one+two"}
    claim, *others = read_claims([registry(*rows)], SCHEMA)
    assert (claim.value, claim.tolerance, claim.other_data) == (2.0, 0.5, False)
    assert (claim.published, claim.select, claim.reason) == ("2.0", "", "")
    assert claim.where.endswith("claims.tsv, line 2")
    assert [claim.setups, *(other.setups for other in others)] == [("small",), (), ("one", "two")]


ROW = "\t".join(CLAIM.get(column, "") for column in COLUMNS)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["\t".join(COLUMNS), ROW, ROW], r"line 3: claim_id 't1-mean' is taken by .*line 2"),
        (["\t".join([*COLUMNS, "tolerence"])], "column 'tolerence' is unknown; did you mean 'tolerance'"),
        (["\t".join(COLUMNS[:-1])], "column 'reason' is missing"),
        (["\t".join(COLUMNS), ROW + "\textra"], f"line 2: {len(COLUMNS) + 1} fields for "),
        ([], r"column 'claim_id' is missing \(it has none\)"),
        (["claim_id", "M\xfcller"], "not a tab-separated UTF-8 table"),
    ],
)
def test_a_file_that_is_no_registry_is_refused(tmp_path, lines, message):
    (tmp_path / "claims.tsv").write_bytes("".join(f"{line}\n" for line in lines).encode("latin-1"))
    with pytest.raises(InputError, match=message):
        read_claims([tmp_path / "claims.tsv"], SCHEMA)
    with pytest.raises(InputError, match=r"none\.tsv: cannot be read"):
        read_claims([tmp_path / "none.tsv"], SCHEMA)


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, r"s\.yaml: No such file"), ("a: [", "not valid YAML"), ("a: 1\n", "not a schema of claims")],
)
def test_a_file_that_is_no_schema_is_refused(registry, tmp_path, content, message):
    if content is not None:
        (tmp_path / "s.yaml").write_text(content)
    with pytest.raises(InputError, match=message):
        read_claims([registry(CLAIM)], tmp_path / "s.yaml")


def test_a_claim_that_is_not_measured_needs_only_a_reason(registry):
    of_measure = ("file", "measure", "value", "tolerance", "rationale", "null", "direction")
    row = {name: field for name, field in CLAIM.items() if name not in of_measure}
    (claim,) = read_claims([registry(row | {"reason": "no data"})], SCHEMA)
    assert (claim.value, claim.tolerance, claim.measure) == (None, 0, "")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"claim_id": "T 1"}, r"line 2, column 'claim_id': 'T 1' is not allowed; write a unique name"),
        ({"kind": "guess"}, r"column 'kind': 'guess' is not allowed"),
        ({"value": "half"}, r"line 2, column 'value': 'half' is no number"),
        ({"tolerance": "-1"}, r"column 'tolerance': '-1.0' is not allowed"),
        ({"counts_as": ""}, r"line 2: column 'counts_as' is empty"),
        ({"rationale": "because"}, r"column 'rationale': 'because' is not allowed; write where the tol"),
        ({"null": "", "direction": "no"}, r"line 2: column 'null' is empty; a claim that is measured and"),
        ({"null": "", "counts_as": "none", "direction": "yes"}, r"'null': a direction needs a null result"),
        ({"min_rows": "1.5"}, r"column 'min_rows': '1.5' is not allowed"),
        ({"gates": "t1-other"}, r"column 'gates': 't1-other' is not a measured claim of this registry"),
        ({"caveat": "careful"}, r"column 'caveat': 'careful' is not allowed"),
        ({"kind": "setting"}, r"column 'counts_as': a row of kind 'setting' is never counted"),
        ({"origin": "hypothesis"}, r"column 'counts_as': a row that is a hypothesis is never"),
        ({"file": "/etc/passwd"}, r"column 'file'"),
        ({"file": "../a.tsv"}, r"column 'file'"),
        ({"value": ""}, r"line 2: column 'value' is empty; a claim that is measured"),
        ({"measure": ""}, r"line 2: column 'reason' is empty; a claim that is not measured"),
    ],
)
def test_a_wrong_field_is_refused_with_its_place(registry, change, message):
    with pytest.raises(InputError, match=message):
        read_claims([registry(CLAIM | change)], SCHEMA)


def test_rows_may_be_parts_of_one_statement_and_gates_of_another(registry):
    rows = [CLAIM | {"claim_id": "a", "part_of": "s"}, CLAIM | {"claim_id": "b", "gates": "a"}]
    first, second = read_claims([registry(*rows)], SCHEMA)
    assert (first.group, second.group, second.gates) == ("s", "b", "a")
    assert (first.min_rows, first.direction, first.null) == (1, False, "-9")


def test_fields_stay_as_they_are_written(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text('a\tb\n1.320\tNA\n"x\ty"\t\n')
    assert read_text_table(path, ["a"]) == [(2, {"a": "1.320", "b": "NA"}), (3, {"a": "x\ty", "b": ""})]
