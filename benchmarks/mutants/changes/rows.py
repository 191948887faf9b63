"""From bytes to encoded rows, and out again."""

from __future__ import annotations

from benchmarks.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "a quote joins lines of private rows",
        "dpviz.io.csv:_records",
        "not row_wise",
        "True",
        ("tests/io/test_csv_row_wise.py::test_a_stray_quote_reaches_no_other_row",),
    ),
    Mutant(
        "a table whose rows touch each other passes for row-wise",
        "dpviz.io.csv:read_lines",
        "'' if row_wise else 'its reader let cells in quotes span lines'",
        "''",
        ("tests/io/test_csv.py::test_cells_in_quotes_span_lines_only_where_rows_need_not_stand_alone",),
    ),
    Mutant(
        "a short line ends the reading",
        "dpviz.io.records:_well_formed",
        "record is not None and len(record) == width",
        "record is not None",
        ("tests/io/test_csv.py::test_a_malformed_line_is_left_out_counted_and_noted",),
    ),
    Mutant(
        "carriage returns inside a row end it",
        "dpviz.io.text:Text.lines",
        "'\\n' if self.row_wise else None",
        "None",
        ("tests/io/test_csv.py::test_a_malformed_line_is_left_out_counted_and_noted",),
    ),
    Mutant(
        "one unreadable byte ends the reading",
        "dpviz.io.text:Text.lines",
        "'replace'",
        "'strict'",
        ("tests/io/test_csv_row_wise.py::test_bytes_of_another_encoding_reach_no_other_row",),
    ),
    Mutant(
        "all rows decide about the encoding",
        "dpviz.io.text:read_text",
        "raw[:raw.find(b'\\n') + 1 or len(raw)]",
        "raw",
        ("tests/io/test_text.py::test_rows_do_not_decide_the_encoding",),
    ),
    Mutant(
        "UTF-16 accepted for private rows",
        "dpviz.io.text:_utf16",
        (
            "if row_wise:\n"
            "    what = 'The file is UTF-16, in which one lost byte changes every row after it.'\n"
            "    raise TableError('encoding', what, remedy=_AS_UTF8)"
        ),
        (
            "if False:\n"
            "    what = 'The file is UTF-16, in which one lost byte changes every row after it.'\n"
            "    raise TableError('encoding', what, remedy=_AS_UTF8)"
        ),
        ("tests/io/test_text.py::test_utf16_is_read_only_where_rows_need_not_stand_alone",),
    ),
    Mutant(
        "the first row decides whether a file is unpacked",
        "dpviz.io.text:read_text",
        "raw.startswith(GZIP) if header else name_of(source, None).endswith('.gz')",
        "raw.startswith(GZIP)",
        ("tests/io/test_text.py::test_without_a_header_the_first_bytes_decide_nothing",),
    ),
    Mutant(
        "the first row's mark is taken for a mark of the file",
        "dpviz.io.text:read_text",
        "not header",
        "not header and (not raw.startswith(_UTF16_MARKS))",
        ("tests/io/test_text.py::test_without_a_header_the_first_bytes_decide_nothing",),
    ),
    Mutant(
        "lines that run into each other are not read apart",
        "dpviz.io.csv:cells_of",
        "len(records) != len(lines)",
        "not records",
        ("tests/io/test_csv_row_wise.py::test_a_stray_quote_reaches_no_other_row",),
    ),
    Mutant(
        "an open quote at the end is kept",
        "dpviz.io.csv:cells_of",
        "records[-1] = None",
        "pass",
        ("tests/io/test_csv.py::test_a_malformed_line_is_left_out_counted_and_noted",),
    ),
    Mutant(
        "encoding forgets that rows touch each other",
        "dpviz.table.encode:_data_set",
        "EncodedDataset(schema, tuple(encoded[:-1]), encoded[-1], report, table.not_row_wise)",
        "EncodedDataset(schema, tuple(encoded[:-1]), encoded[-1], report)",
        ("tests/table/test_encode.py::test_what_the_reader_says_of_its_rows_reaches_the_data_set",),
    ),
    Mutant(
        "numbers outside the range are not clipped",
        "dpviz.table.encode:_numbers",
        "np.clip(given, low, high)",
        "given",
        (
            "tests/table/test_encode.py::test_whole_numbers_are_rounded_clipped_and_kept_small",
            "tests/table/test_encode.py::test_a_numeric_target_is_clipped_and_counted",
        ),
    ),
    Mutant(
        "lines with quotes are cut at every delimiter",
        "dpviz.io.csv:columns_of",
        "'\"' not in text and '\\r' not in text and (max(map(len, lines)) <= csv.field_size_limit())",
        "'\\r' not in text and max(map(len, lines)) <= csv.field_size_limit()",
        ("tests/io/tables/test_columns.py::test_lines_of_one_width_are_cut_at_once",),
    ),
    Mutant(
        "lines of any width are cut as one",
        "dpviz.io.csv:columns_of",
        "any((line.count(delimiter) != width - 1 for line in lines))",
        "not lines",
        ("tests/io/tables/test_columns.py::test_lines_of_one_width_are_cut_at_once",),
    ),
    Mutant(
        "what cannot be read is one person",
        "dpviz.table.encode:_persons",
        "_UNREADABLE not in text",
        "True",
        ("tests/table/test_persons.py::test_persons_that_nobody_can_tell_apart_are_left_out",),
    ),
    Mutant(
        "of each person one row more is kept",
        "dpviz.table.encode:chosen_rows",
        "rank < most",
        "rank <= most",
        ("tests/table/test_persons.py::test_a_person_more_or_less_changes_at_most_that_many_rows_all_of_that_person",),
    ),
    Mutant(
        "which rows of a person are kept depends on their order",
        "dpviz.table.encode:chosen_rows",
        "secure_uniforms",
        "np.arange",
        ("tests/table/test_persons.py::test_every_choice_of_a_person_s_rows_is_equally_likely",),
    ),
    Mutant(
        "parts by position",
        "dpviz.table.dataset:EncodedDataset.parts",
        "secure_uniforms(self.n_rows) < share",
        "np.arange(self.n_rows) < share * self.n_rows",
        ("tests/table/test_dataset.py::test_the_part_of_a_row_depends_on_no_other_row",),
    ),
    Mutant(
        "parts by coins of a fixed seed",
        "dpviz.table.dataset:EncodedDataset.parts",
        "secure_uniforms",
        "generator(0).random",
        ("tests/table/test_dataset.py::test_every_row_is_assigned_to_its_part_by_itself",),
    ),
    Mutant(
        "rows taken by position may be released",
        "dpviz.table.dataset:EncodedDataset.take",
        "self.not_row_wise or 'its rows were chosen by their positions, which depend on other rows'",
        "self.not_row_wise",
        ("tests/table/test_dataset.py::test_parts_may_be_released_from_and_permuted_splits_may_not",),
    ),
    Mutant(
        "parts forget that rows touch each other",
        "dpviz.table.dataset:EncodedDataset.by_assignment",
        "self.not_row_wise",
        "''",
        ("tests/table/test_dataset.py::test_parts_may_be_released_from_and_permuted_splits_may_not",),
    ),
    Mutant(
        "a row count read from the data passes for declared",
        "dpviz.table.schema:Schema.read_fields",
        "of_columns + tuple(((field, field) for field in self.read_from_data))",
        "of_columns",
        ("tests/table/test_schema.py::test_declaring_a_field_takes_its_mark_and_the_kind_away",),
    ),
    Mutant(
        "an export may differ by a thousandth of the range",
        "dpviz.io.exports.golden",
        "1e-09",
        "0.001",
        ("tests/io/test_exports.py::test_a_number_may_differ_by_rounding_and_by_no_more",),
    ),
    Mutant(
        "what a library says stays behind an error",
        "dpviz.errors:cells_stay_inside",
        "error.__context__ = None",
        "pass",
        ("tests/test_cells_stay_inside.py::test_the_door_leaves_nothing_behind_an_error",),
    ),
    Mutant(
        "what is behind an error of our own stays there",
        "dpviz.errors:cells_stay_inside",
        "ours.__cause__ = ours.__context__ = None",
        "pass",
        ("tests/test_cells_stay_inside.py::test_the_door_leaves_nothing_behind_an_error",),
    ),
    Mutant(
        "an estimator quotes what NumPy says of a cell",
        "dpviz.sklearn:_PrivateEstimator.fit",
        ("with cells_stay_inside(partial(_in_words, X)):\n    return self._fitted(self._given(X), y)"),
        "return self._fitted(self._given(X), y)",
        ("tests/test_cells_stay_inside.py::test_no_estimator_lets_a_cell_out[cells0-objects]",),
    ),
    Mutant(
        "a score quotes labels",
        "dpviz.sklearn:_PrivateEstimator.score",
        ("with cells_stay_inside(partial(_in_words, X)):\n    return float(super().score(X, y, sample_weight))"),
        ("if True:\n    return float(super().score(X, y, sample_weight))"),
        ("tests/test_sklearn.py::test_a_score_of_labels_of_two_types_quotes_none",),
    ),
    Mutant(
        "a table prints its cells",
        "dpviz.table.raw:RawTable.__repr__",
        "listed_names(self.names)",
        "[column.texts for column in self.columns]",
        ("tests/test_cells_stay_inside.py::test_what_holds_rows_prints_itself_in_a_few_lines_without_one",),
    ),
    Mutant(
        "encoded rows print themselves",
        "dpviz.table.dataset:EncodedDataset.__repr__",
        "self.schema.target.name",
        "self.target",
        ("tests/test_cells_stay_inside.py::test_what_holds_rows_prints_itself_in_a_few_lines_without_one",),
    ),
    Mutant(
        "the canary of an audit prints itself",
        "dpviz.evaluation.audit.by_attack:AuditedBound",
        "False",
        "True",
        ("tests/test_cells_stay_inside.py::test_the_canary_of_an_audit_does_not_print_itself",),
    ),
    Mutant(
        "a target of one value is quoted",
        "dpviz.table.proposal:_target",
        "'The target has only one value.'",
        "f'The target has only one value ({column.texts[0]}).'",
        ("tests/test_cells_stay_inside.py::test_no_command_prints_a_cell[schema-csv]",),
    ),
    Mutant(
        "nobody hears that most rows have no answer",
        "dpviz.models.new_rows:_encoded",
        "warnings.warn(unanswered.sentence, UnansweredWarning, stacklevel=3)",
        "None",
        ("tests/models/test_new_rows.py::test_many_rows_without_an_answer_warn_in_shares_alone",),
    ),
    Mutant(
        "a warning of rows without an answer counts them",
        "dpviz.models.new_rows:Unanswered._share",
        "max((share for share in SHARES if 100 * n_rows >= share * max(self.n_rows, 1)), default=0)",
        "n_rows",
        ("tests/models/test_new_rows.py::test_many_rows_without_an_answer_warn_in_shares_alone",),
    ),
)
