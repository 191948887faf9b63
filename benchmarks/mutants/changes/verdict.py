"""What is said about a guarantee: for the person, with its delta, and only where it holds; and exports that are tried first."""

from __future__ import annotations

from benchmarks.mutants.mutant import Mutant

VERDICT = "dpviz/results/verdict.py"
LEADS = "tests/results/test_person_leads.py"
SAID = "tests/results/test_verdict.py"
SQL = "tests/io/test_sql_in_databases.py::test_a_cell_of_any_type_is_answered_as_by_predict_or_refused"
PROOF = "tests/figures/publish/test_proof.py"

COVERAGE = "tests/training/estimate/test_coverage.py"

MUTANTS = (
    Mutant(
        "a person with several rows is said to lose what one row does",
        VERDICT,
        "return for_unit(row, self.rows)",
        "return for_unit(row, 1)",
        (f"{LEADS}::test_the_document_says_whom_it_protects", f"{LEADS}::test_page_one_of_the_report_leads_with_the_patient"),
    ),
    Mutant(
        "guesses about a person are those about a row",
        VERDICT,
        "return 100 * unit.loss_of(row).guesses_right",
        "return 100 * row.guesses_right",
        (f"{LEADS}::test_page_one_of_the_report_leads_with_the_patient",),
    ),
    Mutant(
        "guesses are those of one row of a person",
        VERDICT,
        "return 100 * risk.for_rows(unit.rows).guesses()",
        "return 100 * risk.guesses()",
        (f"{SAID}::test_the_rows_of_a_person_are_composed_and_not_multiplied",),
    ),
    Mutant(
        "a refuted ledger's steps are said to bound the guesses",
        VERDICT,
        "if risk is None or not row.is_finite:\n        return",
        "if risk is None:\n        return",
        (f"{SAID}::test_no_number_of_steps_makes_a_refuted_ledger_a_bound",),
    ),
    Mutant(
        "a document's guesses are those of steps that are not its guarantee's",
        "dpviz/io/results.py",
        "Risk(ledger.event) if ledger.guarantee == found.guarantee else None",
        "Risk(ledger.event)",
        (f"{SAID}::test_a_document_whose_steps_are_not_those_of_its_guarantee_has_the_bound_of_any_algorithm",),
    ),
    Mutant(
        "steps that depend on the rows are planned as those of a few rows",
        "dpviz/learners/request.py",
        "is_all or not claim.is_sound",
        "True",
        ("tests/learners/test_request.py::test_the_risk_of_a_plan_is_that_of_its_mechanisms",),
    ),
    Mutant(
        "a plan counts one row of a person",
        "dpviz.evaluation.plan.consequences:Consequence.right_guesses",
        "self.risk.for_rows(rows)",
        "self.risk",
        ("tests/evaluation/plan/test_planner.py::test_guesses_are_those_of_the_algorithm_and_of_all_rows_of_a_person",),
    ),
    Mutant(
        "who of n was left out is bounded by the power at even odds",
        "dpviz.evaluation.plan.consequences:Consequence.right_guesses",
        "person.attribute_guesses(1 / candidates)",
        "person.guesses()",
        ("tests/evaluation/plan/test_planner.py::test_guesses_right_are_those_of_the_two_attack_models",),
    ),
    Mutant(
        "the downloads of a register say what a row costs for what a person does",
        "dpviz.release.export:_of_unit",
        "unit.loss_of(row)",
        "row",
        ("tests/release/test_export.py::test_the_json_holds_caps_sums_and_releases",),
    ),
    Mutant(
        "at equal risk every algorithm is taken at its largest epsilon",
        "dpviz.evaluation.compare.comparison:at_equal_risk",
        "point.guesses <= most or math.isinf(point.x)",
        "True",
        (
            "tests/figures/compare/test_bands.py::"
            "test_over_equal_risk_a_curve_stands_where_its_guesses_are_and_the_best_is_the_best_there",
        ),
    ),
    Mutant(
        "the row's number leads the person's",
        VERDICT,
        'of_row = f"; one row: {bare_text(row)}" if unit.rows > 1 else ""\n'
        '    return f"{bare_text(unit.loss_of(row))} ({unit.neighbours}{of_row})"',
        'return f"{bare_text(row)} ({NEIGHBOURS}; {unit.words}: {bare_text(unit.loss_of(row))})"',
        (
            f"{LEADS}::test_page_one_of_the_report_leads_with_the_patient",
            f"{SAID}::test_an_epsilon_is_never_without_its_neighbours",
        ),
    ),
    Mutant(
        "a loss is said without its delta",
        VERDICT,
        '(f", δ = {number_text(loss.delta)}" if loss.delta else "")',
        '""',
        (f"{SAID}::test_an_epsilon_is_never_without_its_neighbours",),
    ),
    Mutant(
        "a ledger that a counterexample refutes is said to bound the loss",
        VERDICT,
        'proven = guarantee if larger or claim.verdict != "violated" else NO_BOUND',
        "proven = guarantee",
        (f"{SAID}::test_a_refuted_ledger_bounds_nothing_on_any_surface",),
    ),
    Mutant(
        "a released file does not say whom the register protects",
        "dpviz/release/publish.py",
        "replace(request.fit(data, ExactNoise()), unit=protected(data_set, data.rows_per_person))",
        "request.fit(data, ExactNoise())",
        (f"{LEADS}::test_the_document_says_whom_it_protects",),
    ),
    Mutant(
        "what only the owner's word bounds is said to be enforced",
        "dpviz/release/records.py",
        "is_bounded=rows_per_person is not None",
        "is_bounded=True",
        (f"{LEADS}::test_the_document_says_whom_it_protects",),
    ),
    Mutant(
        "pages about a tree forget whom the rows in use protect",
        "dpviz/app/tree_parts.py",
        "unit=unit_in_use()",
        "unit=trained.result.unit",
        (f"{LEADS}::test_pages_about_a_tree_lead_with_the_patient[True-tree]",),
    ),
    Mutant(
        "the unit that a file states is not held to follow from the row's loss",
        "dpviz.results.document:statement_of",
        "found.unit.loss_of(found.guarantee) != PrivacyLoss(person.epsilon, person.delta)",
        "not found.guarantee.is_finite",
        ("tests/table/test_persons.py::test_a_result_says_what_it_costs_a_person_and_is_read_back",),
    ),
    Mutant(
        "SQL compares a number stored as text by its letters",
        "dpviz/io/exports/sql.py",
        'yield f"{value} AS n{self.place}"',
        'yield f"{text} AS n{self.place}"',
        (f"{SQL}[sqlite-number]", f"{SQL}[duckdb-number]"),
    ),
    Mutant(
        "SQL answers rows for which predict has no answer",
        "dpviz/io/exports/sql.py",
        'asked = [f"x.c{cell.place} IS NOT NULL" for cell in self.cells]',
        'asked = ["1 = 1" for cell in self.cells]',
        (f"{SQL}[sqlite-words]", f"{SQL}[duckdb-words]"),
    ),
    Mutant(
        "the exported function takes a truth value for a number",
        "dpviz/io/exports/python_function.txt",
        "if isinstance(cell, bool):\n        return float",
        "if None:\n        return float",
        ("tests/io/test_export_cells.py::test_typed_cells_are_read_as_from_a_frame[numbers]",),
    ),
    Mutant(
        "lines of a record in pieces have an answer each",
        "dpviz/commands/predict.py",
        "wanted=wanted, by_record=True",
        "wanted=wanted, by_record=False",
        ("tests/commands/test_predict_per_record.py::test_in_pieces_a_record_has_one_answer_too",),
    ),
    Mutant(
        "keys are rewritten for spreadsheets unasked",
        "dpviz/io/answers.py",
        "harmless(cell) if guard and is_formula(cell) else cell",
        "harmless(cell) if is_formula(cell) else cell",
        ("tests/commands/test_predict_per_record.py::test_a_number_gives_way_to_a_key_called_value",),
    ),
    Mutant(
        "exports are tried after epsilon is spent, or never",
        "dpviz/commands/train.py",
        "            _prove(given.rows)\n",
        "",
        (f"{PROOF}::test_without_a_report_nothing_is_released_or_spent",),
    ),
    Mutant(
        "a release goes on without a report",
        "dpviz/figures/publish/proof.py",
        'NEEDED = ("json", "report")',
        'NEEDED = ("json",)',
        (f"{PROOF}::test_without_a_report_nothing_is_released_or_spent",),
    ),
    Mutant(
        "noise drawn past the source counts as exact",
        "dpviz.accounting.events:is_exact",
        "getattr(event, 'exact', True)",
        "True",
        ("tests/contract/test_claims_follow_noise.py::test_noise_drawn_past_the_source_is_no_release[<lambda>0]",),
    ),
    Mutant(
        "a learner without exact samplers fits without a seed",
        "dpviz.learners.request:FitRequest.fit",
        "isinstance(noise, ExactNoise) and not spec.exact",
        "False",
        ("tests/contract/test_claims_follow_noise.py::test_a_release_is_what_exact_samplers_alone_drew[privatree-categories-1]",),
    ),
    Mutant(
        "not-a-number is within every bound",
        "dpviz.evaluation.audit.findings:exceeds",
        "not ratio <= bound * (1 + SLACK) + SLACK * 0.001",
        "ratio > bound * (1 + SLACK) + SLACK * 0.001",
        ("tests/test_verdicts_fail_closed.py::test_a_bound_that_is_no_number_is_exceeded",),
    ),
    Mutant(
        "a log ratio that is no number is judged",
        "dpviz.evaluation.audit.findings:judge",
        "checked_loss('judge', 'log_ratio', log_ratio)",
        "None",
        ("tests/test_verdicts_fail_closed.py::test_what_is_no_number_is_refused_at_the_door[judge log_ratio-nan0]",),
    ),
    Mutant(
        "errors beyond the window end where it ends",
        "dpviz.training.estimate.number_report:NumberReport._beyond",
        "most > _ROUNDING",
        "most < 0",
        (f"{COVERAGE}::test_what_lies_beyond_the_window_is_in_the_upper_end[0.02]",),
    ),
    Mutant(
        "means of leaves end where the window ends",
        "dpviz.training.estimate.numbers:_Valuing._at_most",
        "max(furthest - 1.0, 0.0)",
        "0.0",
        (f"{COVERAGE}::test_what_lies_beyond_the_window_is_in_the_interval_of_a_leaf",),
    ),
    Mutant(
        "recalls are cut off before they are averaged",
        "dpviz.training.estimate.report:share_of",
        "_Share(found.value, min(found.low, at_t.low, low), max(found.high, at_t.high, high))",
        "_Share(min(found.value, 1.0), min(found.low, at_t.low, low), 1.0)",
        (f"{COVERAGE}::test_a_few_intervals_of_classes_hold_the_truth[separable]",),
    ),
    Mutant(
        "rows of one person count as those of many",
        "dpviz.results.result:FitResult.__post_init__",
        "self.test_report is not None",
        "False",
        (f"{COVERAGE}::test_a_fit_knows_how_many_rows_are_of_one_person",),
    ),
)
