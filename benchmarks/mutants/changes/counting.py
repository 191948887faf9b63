"""Who counts the rows, and where they are."""

from __future__ import annotations

from benchmarks.mutants.mutant import Mutant

MUTANTS = (
    Mutant(
        "rows that coins set aside are counted while a level is counted",
        "dpviz/training/counting/levels.py",
        "return level_root(self.growth.counter, self.grid, parts)",
        "return self",
        ("tests/training/counting/test_contract.py::test_whoever_counts_the_model_is_the_same_to_the_last_bit",),
    ),
    Mutant(
        "a learner that needs the rows is let loose on counts",
        "dpviz/learners/__init__.py",
        "if not spec.counts_only:",
        "if False:",
        ("tests/training/counting/test_contract.py::test_a_learner_that_needs_more_says_so_before_anything_is_asked",),
    ),
    Mutant(
        "rows that coins set aside grow the tree in an engine",
        "dpviz/engines/statements.py",
        'return "part = 0" if of_part_0',
        'return "part >= 0" if of_part_0',
        ("tests/engines/test_engines.py::test_trees_are_those_of_memory[duckdb]",),
    ),
    Mutant(
        "rows that grew the tree are summed in its leaves in an engine",
        "dpviz/engines/sums.py",
        'else f"part = {part}"',
        'else f"part <= {part}"',
        ("tests/engines/test_engines.py::test_sums_of_every_measure_are_those_of_memory[duckdb]",),
    ),
    Mutant(
        "the register does not see how often a row occurs in an engine",
        "dpviz/engines/statements.py",
        'return f"SELECT {names}, COUNT(*) AS n FROM {encoded}',
        'return f"SELECT {names}, 1::BIGINT AS n FROM {encoded}',
        ("tests/engines/test_engines.py::test_the_register_knows_rows_by_a_digest_of_all_of_them[duckdb]",),
    ),
    Mutant(
        "rows that the register recognises may be read anew from the engine",
        "dpviz/engines/rows.py",
        """            if self._is_booked:
                raise""",
        """            if False:
                raise""",
        ("tests/engines/test_address.py::test_rows_that_the_register_recognises_are_encoded_once",),
    ),
    Mutant(
        "a password in an address is accepted",
        "dpviz/engines/address.py",
        "if password is not None or any(",
        "if any(",
        ("tests/engines/test_address.py::test_a_password_is_refused_and_not_repeated",),
    ),
    Mutant(
        "the Data page reads what a link in an allowed folder leads to, wherever that is",
        "dpviz/io/tables/folder.py",
        "return real if real.is_relative_to(folder.resolve(strict=True)) and real.is_file() else None",
        "return real if real.is_file() else None",
        (
            "tests/pages/test_data.py::test_only_tables_of_allowed_folders_are_offered_and_only_as_private_rows",
            "tests/pages/test_data.py::test_a_file_that_leads_elsewhere_by_now_is_not_read",
        ),
    ),
    Mutant(
        "private tables of the server are offered as public rows",
        "dpviz/app/data/choosing.py",
        "DataRole.PUBLIC: (_SAMPLE, _FILE, _OPENML),",
        "DataRole.PUBLIC: (_SAMPLE, _FILE, _OPENML, _SERVER),",
        ("tests/pages/test_data.py::test_only_tables_of_allowed_folders_are_offered_and_only_as_private_rows",),
    ),
    Mutant(
        "an error of an engine carries what the engine said",
        "dpviz/engines/connection.py",
        'raise EngineError("failed", what, remedy=remedy) from None',
        'raise EngineError("failed", what, remedy=remedy) from error',
        ("tests/engines/test_engines.py::test_an_engine_that_dies_in_mid_level_is_a_typed_error_that_quotes_nothing[duckdb]",),
    ),
    Mutant(
        "what was made in an engine stays there",
        "dpviz/engines/rows.py",
        "self._connection.close()",
        "pass",
        ("tests/engines/test_engines.py::test_what_fails_or_is_stopped_in_mid_level_leaves_nothing[duckdb]",),
    ),
    Mutant(
        "out of core: the last piece of the rows is not counted",
        "dpviz/training/counting/on_disk.py",
        "for start in range(0, max(n_rows, 1), most)]",
        "for start in range(0, n_rows - most, most)]",
        ("tests/io/large/test_encode.py::test_every_count_of_every_level_is_that_of_memory",),
    ),
    Mutant(
        "out of core: the last row of a piece is counted with the next one too",
        "dpviz/training/counting/on_disk.py",
        "slice(start, min(start + most, n_rows))",
        "slice(start, min(start + most + 1, n_rows))",
        ("tests/io/large/test_encode.py::test_every_count_of_every_level_is_that_of_memory",),
    ),
    Mutant(
        "out of core: rows that coins set aside grow the tree too",
        "dpviz/training/counting/binned_levels.py",
        " if parts is None else np.minimum(parts, 1)",
        "",
        ("tests/io/large/test_encode.py::test_every_count_of_every_level_is_that_of_memory",),
    ),
    Mutant(
        "out of core: a row whose node has ended is counted in the first open one",
        "dpviz/training/counting/binned_levels.py",
        "(len(self._places) + 1, len(bins)), none,",
        "(len(self._places) + 1, len(bins)), 0,",
        ("tests/io/large/test_encode.py::test_every_count_of_every_level_is_that_of_memory",),
    ),
    Mutant(
        "out of core: coins of a piece are those of the first one",
        "dpviz/training/counting/mapped.py",
        ".leaf_counts(tree, None if parts is None else parts[rows], n_parts)",
        ".leaf_counts(tree, None if parts is None else parts[: piece.n_rows], n_parts)",
        ("tests/io/large/test_encode.py::test_every_count_of_every_level_is_that_of_memory",),
    ),
    Mutant(
        "out of core: the larger of two children has the rows of both",
        "dpviz/training/counting/binned_levels.py",
        "self._found[[pair.parent for pair in pairs]] - counts",
        "self._found[[pair.parent for pair in pairs]]",
        ("tests/io/large/test_encode.py::test_every_count_of_every_level_is_that_of_memory",),
    ),
    Mutant(
        "out of core: a number that is binned at once is never out of range, nor missing",
        "dpviz/table/encode.py",
        "unusable = few.unusable and (_flags(len(found), others[few.unusable[0]]), _flags(len(found), others[few.unusable[1]]))",
        "unusable = None",
        ("tests/io/large/test_encode.py::test_pieces_drop_what_is_missing",),
    ),
    Mutant(
        "a piece of text is read twice",
        "dpviz/io/large/csv.py",
        "rest, is_too_long = block[end:], False",
        "rest, is_too_long = block, False",
        ("tests/io/large/test_encode.py::test_a_piece_of_text_may_end_anywhere[20]",),
    ),
    Mutant(
        "the end of a text without a line feed is dropped",
        "dpviz/io/large/csv.py",
        "    if rest or is_too_long:",
        "    if is_too_long:",
        ("tests/io/large/test_encode.py::test_a_piece_of_text_may_end_anywhere[20]",),
    ),
    Mutant(
        "a missing number is the lowest bin",
        "dpviz/table/encode.py",
        "unusable = _flags(len(values), outside[is_nan]), missing",
        "pass",
        ("tests/io/large/test_encode.py::test_pieces_drop_what_is_missing",),
    ),
    Mutant(
        "values on a threshold go to the upper bin",
        "dpviz/table/candidates.py",
        "np.searchsorted(self.thresholds, values[held])",
        'np.searchsorted(self.thresholds, values[held], side="right")',
        ("tests/table/test_candidates.py::test_bins_by_cells_are_bins_by_search",),
    ),
)
