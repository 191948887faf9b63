"""Writes the simulated samples of this folder: health, loans, clinic, stays and rents, each a table (.csv.gz) and its schema.

Nothing here is about anybody. Every row is drawn from the rules below, the file reads nothing, and running it again
writes the same bytes: `python data/make_samples.py`. The ranges of the schemas are design values, wider than the data.

Only `random()` and `standard_normal()` of NumPy's generator are used, the two whose streams have stayed the same.
"""

from __future__ import annotations

import gzip
import io
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from dpviz.randomness import generator
from dpviz.table.schema import CategoricalFeature, ClassTarget, NumericFeature, NumericTarget, Schema

SEED = 1
HEALTH = 2_500
LOANS = 20_000
CLINIC = 800
RENTS = 3_000

#: Work of the people at the health check -> (mostly sitting, at night).
WORK = {
    "accountant": (True, False), "baker": (False, True), "bus driver": (True, True), "carer": (False, True),
    "carpenter": (False, False), "cashier": (True, False), "chef": (False, True), "cleaner": (False, True),
    "courier": (False, False), "designer": (True, False), "doctor": (True, True), "electrician": (False, False),
    "engineer": (True, False), "farmer": (False, False), "lawyer": (True, False), "mechanic": (False, False),
    "nurse": (False, True), "office clerk": (True, False), "plumber": (False, False), "programmer": (True, False),
    "retired": (True, False), "shop owner": (True, False), "teacher": (False, False), "warehouse worker": (False, True),
}  # fmt: skip
FAMILY = {"none": 50, "one parent": 33, "both parents": 17}
DIET = {"mixed": 35, "much meat": 25, "fish": 20, "vegetarian": 12, "vegan": 8}
SMOKER = {"never": 40, "former": 25, "current": 35}
#: Occupation -> (share among applicants, in thousandths; log of income relative to the middle; unsteadiness of the work).
OCCUPATIONS = {
    "accountant": (28, 0.25, -0.3), "actor": (6, -0.25, 0.9), "architect": (15, 0.3, 0.0), "baker": (18, -0.2, 0.1),
    "bus driver": (32, -0.1, -0.1), "butcher": (12, -0.2, 0.1), "carer": (48, -0.3, 0.0), "carpenter": (30, 0.0, 0.2),
    "cashier": (52, -0.4, 0.2), "chemist": (14, 0.3, -0.3), "chef": (34, -0.2, 0.5), "cleaner": (50, -0.5, 0.3),
    "construction worker": (46, -0.1, 0.5), "courier": (36, -0.4, 0.6), "dentist": (9, 0.9, -0.4), "designer": (24, 0.0, 0.4),
    "doctor": (22, 0.9, -0.5), "electrician": (36, 0.1, 0.0), "engineer": (52, 0.4, -0.3), "farmer": (20, -0.1, 0.4),
    "firefighter": (10, 0.0, -0.4), "gardener": (20, -0.3, 0.3), "hairdresser": (26, -0.4, 0.3), "journalist": (10, 0.1, 0.4),
    "lawyer": (16, 0.7, -0.2), "librarian": (8, -0.1, -0.4), "mechanic": (32, 0.0, 0.0), "musician": (6, -0.3, 0.9),
    "nurse": (54, 0.0, -0.3), "office clerk": (60, -0.1, -0.1), "painter": (22, -0.1, 0.4), "pharmacist": (14, 0.4, -0.4),
    "plumber": (28, 0.1, 0.0), "police officer": (24, 0.1, -0.5), "programmer": (42, 0.5, -0.2),
    "security guard": (24, -0.3, 0.2), "shop owner": (30, 0.1, 0.6), "teacher": (60, 0.1, -0.5), "waiter": (36, -0.5, 0.6),
    "warehouse worker": (44, -0.3, 0.3),
}  # fmt: skip
PURPOSES = {"car": 30, "home improvement": 20, "debt consolidation": 22, "education": 8, "medical": 7, "business": 8, "other": 5}
HOUSING = {"owner": 22, "mortgage": 30, "rent": 38, "with family": 10}
WARDS = {"medicine": 34, "surgery": 26, "cardiology": 18, "geriatrics": 14, "orthopaedics": 8}
ADMISSIONS = {"emergency": 52, "planned": 36, "transfer": 12}
SMOKING = {"never": 52, "former": 28, "current": 20}
#: District -> (share among flats, in hundredths; log of its rents relative to the middle; kilometres to the centre).
DISTRICTS = {
    "old town": (9, 0.34, 0.8), "harbour": (11, 0.18, 2.1), "university": (13, 0.16, 1.7), "station": (12, -0.02, 1.2),
    "riverside": (10, 0.1, 3.4), "north": (13, -0.12, 5.2), "hillside": (6, 0.26, 4.6), "mill quarter": (10, -0.06, 3.9),
    "east": (11, -0.2, 6.8), "outskirts": (5, -0.26, 11.5),
}  # fmt: skip
HEATING = {"district heating": 38, "gas": 34, "heat pump": 16, "oil": 12}

Columns = dict[str, np.ndarray]


def health(seed: int = SEED + 15) -> tuple[Columns, Schema]:
    """People at a health check, a row each, about half of them diabetic: every level of a planted tree says a little more.

    Which is found how surely is what the sample is for, so it is small, and each level takes more of epsilon than the one above.
    """
    rng = generator(seed)
    n = HEALTH
    age = np.floor(18 + 67 * rng.random(n))
    waist = np.round(np.clip(94 + 14 * rng.standard_normal(n), 55, 150))
    pressure = np.round(np.clip(124 + 0.25 * (age - 50) + 14 * rng.standard_normal(n), 75, 210))
    activity = _rounded(np.clip(-np.log1p(-rng.random(n)) * 5, 0, 38), 0.1)
    sleep = _rounded(np.clip(7 + 1.1 * rng.standard_normal(n), 3, 12), 0.1)
    family, diet, smoker = (_choose(rng, n, shares.values()) for shares in (FAMILY, DIET, SMOKER))
    work = _choose(rng, n, [1] * len(WORK))
    pulse = np.round(np.clip(70 + 9 * rng.standard_normal(n), 42, 125))
    sweets = np.floor(15 * rng.random(n))
    sits, nights = np.array(list(WORK.values()))[work].T
    wide, old, inherited = waist >= 94, age >= 50, family >= 1
    second = _sign(np.where(wide, old, inherited))
    third = _sign(
        np.where(wide, np.where(old, activity < 4, pressure >= 125), np.where(inherited, age >= 48, smoker == 2)),
    )
    wide_old = np.where(activity < 4, sleep < 7.5, inherited)
    wide_young = np.where(pressure >= 125, smoker >= 1, sits)
    slim_inherited = np.where(age >= 48, pressure >= 122, activity < 3)
    slim = np.where(smoker == 2, sleep < 7, nights)
    fourth = _sign(np.where(wide, np.where(old, wide_old, wide_young), np.where(inherited, slim_inherited, slim)))
    score = 1.76 * _sign(wide) + 1.44 * second + 2.24 * third + 2.88 * fourth - 0.45
    columns = {
        "age": age, "waist": waist, "blood_pressure": pressure, "activity": activity, "sleep": sleep, "sweets": sweets,
        "pulse": pulse, "family": _named(FAMILY, family), "diet": _named(DIET, diet), "work": _named(WORK, work),
        "smoking": _named(SMOKER, smoker), "diagnosis": np.where(rng.random(n) < _logistic(score), "diabetic", "healthy"),
    }  # fmt: skip
    return columns, _health_schema()


def _sign(truth: np.ndarray) -> np.ndarray:
    """1 where it is true, else -1."""
    return np.where(truth, 1, -1)


def _health_schema() -> Schema:
    features = (
        NumericFeature("age", 18, 90, "years", whole=True),
        NumericFeature("waist", 50, 160, "cm", whole=True),
        NumericFeature("blood_pressure", 60, 220, "mmHg", whole=True),
        NumericFeature("activity", 0, 40, "hours a week"),
        NumericFeature("sleep", 0, 14, "hours"),
        NumericFeature("sweets", 0, 20, "a week", whole=True),
        NumericFeature("pulse", 30, 150, "a minute", whole=True),
        CategoricalFeature("family", tuple(FAMILY)),
        CategoricalFeature("diet", tuple(DIET)),
        CategoricalFeature("work", tuple(WORK)),
        CategoricalFeature("smoking", tuple(SMOKER)),
    )
    return Schema(features, ClassTarget("diagnosis", ("healthy", "diabetic")), n_public=2_500)


def loans() -> tuple[Columns, Schema]:
    """Loan applications. Defaults come from a planted tree over late payments and the loan's weight, plus a smooth part."""
    rng = generator(SEED)
    n = LOANS
    job = _choose(rng, n, [share for share, _, _ in OCCUPATIONS.values()])
    pay, unsteady = (np.array([row[k] for row in OCCUPATIONS.values()])[job] for k in (1, 2))
    age = np.clip(18 + 62 * rng.random(n) ** 1.4, 18, 80).astype(int)
    employed = np.floor((age - 17) * rng.random(n) ** 1.6 * 0.8)
    income = _rounded(np.clip(np.exp(10.45 + 0.8 * pay + 0.012 * employed + 0.4 * rng.standard_normal(n)), 6_000, 480_000), 100)
    purpose = _choose(rng, n, PURPOSES.values())
    amount = _rounded(np.clip(np.exp(9.1 + 0.3 * np.log(income / 35_000) + 0.75 * rng.standard_normal(n)), 500, 190_000), 100)
    term = np.array([12, 24, 36, 48, 60, 84])[_choose(rng, n, (10, 18, 26, 18, 20, 8))]
    late = np.floor(-np.log1p(-rng.random(n)) * np.exp(0.5 * unsteady) * 0.9)
    cards = np.floor(9 * rng.random(n) ** 1.5)
    housing = _choose(rng, n, HOUSING.values())
    debt = _rounded(np.clip(np.exp(-1.5 + 0.08 * cards + 0.5 * rng.standard_normal(n)), 0.01, 2.4), 0.01)
    burden = amount / income
    planted = np.where(
        late >= 2,
        np.where(burden > 0.3, 2.6, np.where(debt > 0.35, 1.3, -0.2)),
        np.where(burden > 0.5, np.where(housing < 2, -1.2, 1.8), np.where(employed < 1, -1.6, -3.2)),
    )
    smooth = 0.5 * unsteady + 0.35 * np.log(burden / 0.25) - 0.012 * (age - 40) + 0.3 * (purpose == 5)
    outcome = np.where(rng.random(n) < _logistic(planted + smooth), "defaulted", "repaid")
    columns = {
        "age": age, "income": income, "employment_years": employed, "occupation": _named(OCCUPATIONS, job),
        "housing": _named(HOUSING, housing), "loan_amount": amount, "term": term, "purpose": _named(PURPOSES, purpose),
        "debt_ratio": debt, "credit_cards": cards, "late_payments": np.minimum(late, 24), "defaulted": outcome,
    }  # fmt: skip
    return columns, _loans_schema()


def _loans_schema() -> Schema:
    features = (
        NumericFeature("age", 18, 90, "years", whole=True),
        NumericFeature("income", 0, 500_000, "per year", whole=True),
        NumericFeature("employment_years", 0, 70, "years", whole=True),
        CategoricalFeature("occupation", tuple(OCCUPATIONS)),
        CategoricalFeature("housing", tuple(HOUSING)),
        NumericFeature("loan_amount", 0, 200_000, whole=True),
        NumericFeature("term", 6, 120, "months", whole=True),
        CategoricalFeature("purpose", tuple(PURPOSES)),
        NumericFeature("debt_ratio", 0, 3),
        NumericFeature("credit_cards", 0, 20, whole=True),
        NumericFeature("late_payments", 0, 30, "in two years", whole=True),
    )
    return Schema(features, ClassTarget("defaulted", ("repaid", "defaulted")), n_public=20_000)


def clinic() -> tuple[Columns, Schema]:
    """Patients leaving hospital; some blood values were not taken. Small on purpose: here privacy costs much more accuracy."""
    rng = generator(SEED + 1)
    n = CLINIC
    age = np.clip(66 + 16 * rng.standard_normal(n), 19, 99).astype(int)
    ward = _choose(rng, n, WARDS.values())
    admitted = _choose(rng, n, ADMISSIONS.values())
    smoking = _choose(rng, n, SMOKING.values())
    earlier = np.minimum(np.floor(-np.log1p(-rng.random(n)) * (0.7 + 0.012 * age)), 19)
    days = np.clip(np.round(np.exp(1.5 + 0.3 * (admitted == 0) + 0.65 * rng.standard_normal(n))), 1, 60)
    bmi = _rounded(np.clip(np.exp(3.28 + 0.17 * rng.standard_normal(n)), 15, 55), 0.1)
    pressure = np.round(np.clip(112 + 0.3 * age + 17 * rng.standard_normal(n), 75, 220))
    haemoglobin = _rounded(np.clip(13.4 - 0.018 * (age - 60) + 1.6 * rng.standard_normal(n), 6, 18), 0.1)
    creatinine = np.round(np.clip(np.exp(4.35 + 0.006 * (age - 60) + 0.35 * rng.standard_normal(n)), 35, 900))
    planted = np.where(earlier >= 2, np.where(creatinine > 95, 2.4, 0.7), np.where(haemoglobin < 11.5, 0.5, -2.2))
    smooth = 0.01 * (age - 66) + 0.25 * np.log(days / 5) + 0.4 * (smoking == 2) + 0.4 * (admitted == 0) - 0.3
    outcome = np.where(rng.random(n) < _logistic(planted + smooth), "readmitted", "home")
    taken = rng.random(n) > 0.015
    columns = {
        "age": age, "bmi": bmi, "systolic_pressure": pressure, "haemoglobin": np.where(taken, _texts(haemoglobin), ""),
        "creatinine": creatinine, "days_in_hospital": days, "earlier_admissions": earlier, "ward": _named(WARDS, ward),
        "admitted": _named(ADMISSIONS, admitted), "smoking": _named(SMOKING, smoking), "readmitted": outcome,
    }  # fmt: skip
    return columns, _clinic_schema()


def _clinic_schema() -> Schema:
    features = (
        NumericFeature("age", 18, 110, "years", whole=True),
        NumericFeature("bmi", 10, 70, "kg/m²"),
        NumericFeature("systolic_pressure", 60, 260, "mmHg", whole=True),
        NumericFeature("haemoglobin", 3, 22, "g/dL"),
        NumericFeature("creatinine", 20, 1_000, "µmol/L", whole=True),
        NumericFeature("days_in_hospital", 0, 90, "days", whole=True),
        NumericFeature("earlier_admissions", 0, 30, "in two years", whole=True),
        CategoricalFeature("ward", tuple(WARDS)),
        CategoricalFeature("admitted", tuple(ADMISSIONS)),
        CategoricalFeature("smoking", tuple(SMOKING)),
    )
    return Schema(features, ClassTarget("readmitted", ("home", "readmitted")), n_public=800)


def stays() -> tuple[Columns, Schema]:
    """Hospital stays, up to three of one patient, who came back after all but the last; at most two of each are to be used."""
    once, schema = clinic()
    rng = generator(SEED + 4)
    times = 1 + _choose(rng, CLINIC, (60, 28, 12))
    patient = np.repeat(np.arange(CLINIC), times)
    is_last = np.append(patient[1:] != patient[:-1], True)
    columns = {name: cells[patient] for name, cells in once.items()}
    again = np.clip(np.round(np.exp(1.5 + 0.65 * rng.standard_normal(len(patient)))), 1, 60)
    columns["days_in_hospital"] = np.where(is_last, columns["days_in_hospital"], again)
    columns["readmitted"] = np.where(is_last, columns["readmitted"], "readmitted")
    order = np.argsort(rng.random(len(patient)), kind="stable")
    columns = {"patient": _named({f"P{1000 + number}": 1 for number in range(CLINIC)}, patient), **columns}
    used = round(int(np.minimum(times, 2).sum()), -2)
    schema = replace(schema, n_public=used, person="patient", rows_per_person=2)
    return {name: cells[order] for name, cells in columns.items()}, schema


def rents() -> tuple[Columns, Schema]:
    """Flats on offer, their rent a number with a long tail. Size and district say most; new houses cost more."""
    rng = generator(SEED + 2)
    n = RENTS
    district = _choose(rng, n, [share for share, _, _ in DISTRICTS.values()])
    dearer, away = (np.array([row[k] for row in DISTRICTS.values()])[district] for k in (1, 2))
    area = np.round(np.clip(np.exp(4.1 + 0.42 * rng.standard_normal(n)), 14, 340))
    rooms = np.clip(np.round(area / 27 + 0.6 * rng.standard_normal(n)), 1, 9)
    built = np.round(np.clip(2024 - 110 * rng.random(n) ** 1.3, 1890, 2024))
    distance = _rounded(np.clip(away * np.exp(0.25 * rng.standard_normal(n)), 0.1, 24), 0.1)
    floor = np.floor(7 * rng.random(n) ** 1.4)
    heating = _choose(rng, n, HEATING.values())
    furnished, balcony = rng.random(n) < 0.17, rng.random(n) < 0.25 + 0.35 * (built > 1990)
    age = (2024 - built) / 100
    planted = np.where(built >= 2010, 0.2, np.where((built < 1930) & (distance < 2.5), 0.16, -0.22 * age))
    smooth = dearer - 0.02 * distance + 0.13 * furnished + 0.05 * balcony + 0.06 * (heating == 2) + 0.012 * floor
    log_rent = 6.62 + 0.86 * np.log(area / 62) + planted + smooth + 0.16 * rng.standard_normal(n)
    dear = np.where(rng.random(n) < 0.015, 0.5, 0.0)  # a few at almost any price
    columns = {
        "area": area, "rooms": rooms, "district": _named(DISTRICTS, district), "distance": distance, "floor": floor,
        "built": built, "heating": _named(HEATING, heating), "furnished": _yes_no(furnished), "balcony": _yes_no(balcony),
        "rent": _rounded(np.clip(np.exp(log_rent + dear), 180, 5_900), 5),
    }  # fmt: skip
    return columns, _rents_schema()


def _rents_schema() -> Schema:
    features = (
        NumericFeature("area", 10, 400, "m²", whole=True),
        NumericFeature("rooms", 1, 12, whole=True),
        CategoricalFeature("district", tuple(DISTRICTS)),
        NumericFeature("distance", 0, 30, "km"),
        NumericFeature("floor", 0, 20, whole=True),
        NumericFeature("built", 1850, 2030, whole=True),
        CategoricalFeature("heating", tuple(HEATING)),
        CategoricalFeature("furnished", ("no", "yes")),
        CategoricalFeature("balcony", ("no", "yes")),
    )
    return Schema(features, NumericTarget("rent", 0, 6_000), n_public=3_000)


def csv_text(columns: Columns) -> str:
    """The table as CSV. No cell holds a comma or a quote."""
    rows = zip(*(_texts(values) for values in columns.values()), strict=True)
    return "\n".join([",".join(columns), *(",".join(row) for row in rows)]) + "\n"


def zipped(text: str) -> bytes:
    """Gzip without name and time, so that equal text gives equal bytes."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=buffer, mtime=0) as file:
        file.write(text.encode())
    return buffer.getvalue()


def files() -> dict[str, bytes]:
    """File name -> content, for everything this script writes."""
    written: dict[str, bytes] = {}
    for name, make in (("health", health), ("loans", loans), ("clinic", clinic), ("stays", stays), ("rents", rents)):
        columns, schema = make()
        written[f"{name}.csv.gz"] = zipped(csv_text(columns))
        written[f"{name}.schema.json"] = schema.to_json().encode()
    return written


def _choose(rng: np.random.Generator, n: int, weights: object) -> np.ndarray:
    """`n` indices drawn with these weights."""
    edges = np.cumsum(np.array(list(weights), dtype=float))  # type: ignore[call-overload]
    return np.searchsorted(edges, rng.random(n) * edges[-1], side="right")


def _named(names: Mapping[str, object], codes: np.ndarray) -> np.ndarray:
    return np.array(list(names))[codes]


def _yes_no(truth: np.ndarray) -> np.ndarray:
    return np.where(truth, "yes", "no")


def _rounded(values: np.ndarray, step: float) -> np.ndarray:
    return np.round(values / step) * step


def _texts(values: np.ndarray) -> np.ndarray:
    """Numbers with at most two decimals, texts as they are."""
    return values if values.dtype.kind == "U" else np.array([f"{value:.2f}".rstrip("0").rstrip(".") for value in values])


def _logistic(score: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-score))


def main() -> None:
    """Write the files beside this script."""
    for name, content in files().items():
        (Path(__file__).parent / name).write_bytes(content)
        print(f"{name}: {len(content):,} bytes")


if __name__ == "__main__":
    main()
