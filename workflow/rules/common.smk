# What the rules share: the checked configuration, and adapters from wildcards to tested functions of the package.
import json
import os
import re
import shlex
import sys
from functools import partial
from pathlib import Path

from biaslab.run import config as configuration
from biaslab.run.datasets import load_registry
from biaslab.core.errors import InputError
from biaslab.run.provenance import code_digest
from biaslab.debiasing import choice as debiasing_inputs
from biaslab.debiasing.report.document_ranking import CAPTION as DOCUMENT_RANKING
from biaslab.fairness_testing import choice as testing_inputs
from biaslab.origins import grid

ROOT = Path(os.path.relpath(Path(str(workflow.current_basedir)).parents[1]))
ENVIRONMENT = "../../envs/biaslab.yaml"
# The areas, with their papers. Each has a file of rules with a rule of its name, and a registry of claims.
PAPERS = {
    "origins": "Origins of bias (Brunet et al. 2019)",
    "ranking": "Fairness-aware ranking (Geyik et al. 2019)",
    "debiasing": "Debiasing word embeddings (Bolukbasi et al. 2016)",
    "fairness_testing": "Adversarial fairness testing (Zhang et al. 2021)",
}

# The steps' `biaslab` is the one beside this Python, also where snakemake is called by its path; and
# envs/biaslab.post-deploy.sh installs from this repository.
os.environ.update(
    PATH=os.pathsep.join([str(Path(sys.executable).parent), *os.get_exec_path()]),
    BIASLAB_REPOSITORY=str(ROOT.resolve()),
)

try:
    config.update(configuration.load(config, ROOT))
    REGISTRY = load_registry(ROOT / configuration.REGISTRY)
    ABSENT = configuration.absent_setups(config, ROOT)
except InputError as error:
    print(f"biaslab: {error}", file=sys.stderr)
    sys.exit(2)

# A setup without its corpus is left out, unless nothing else is left: then fetching it says what is missing.
CHOSEN = configuration.setups_to_run(config)
SETUPS = {name: config["setups"][name] for name in CHOSEN if name not in ABSENT}
SETUPS = SETUPS or {name: config["setups"][name] for name in CHOSEN}
for name in ABSENT.keys() - SETUPS.keys():
    print(f"biaslab: setup {name} is left out: {ABSENT[name]}", file=sys.stderr)
# Likewise an embedding to debias; but then nothing may be left of the area, and the audit says why.
DEBIASED = debiasing_inputs.Inputs({}, {}, {}, {})
if "debiasing" in config["areas"]:
    MISSING = configuration.absent_datasets(debiasing_inputs.wanted_datasets(config), config, ROOT)
    DEBIASED = debiasing_inputs.choose_inputs(config, SETUPS, MISSING)
    config["debiasing"]["embeddings"] = list(DEBIASED.embeddings)
    for name, reason in DEBIASED.left_out.items():
        print(f"biaslab: debiasing goes without {name}: {reason}", file=sys.stderr)
TESTED = testing_inputs.Inputs({}, {})
if "fairness_testing" in config["areas"]:
    MISSING = configuration.absent_datasets(testing_inputs.wanted_datasets(config), config, ROOT)
    TESTED = testing_inputs.choose_inputs(config, MISSING)
    config["fairness_testing"]["run"] = list(TESTED.classifiers)
    for name, reason in TESTED.left_out.items():
        print(f"biaslab: fairness testing goes without {name}: {reason}", file=sys.stderr)
# What the audit measures: the setups, embeddings or classifiers of each area that runs; else its one experiment.
EXPERIMENTS = {
    configuration.ORIGINS: SETUPS,
    "debiasing": DEBIASED.embeddings,
    "fairness_testing": TESTED.classifiers,
}
RUNS = {area: list(EXPERIMENTS.get(area, [area])) for area in config["areas"]}
EXPERIMENT = configuration.experiment(config, SETUPS)
CORPORA = {
    name: configuration.corpus_file(setup["corpus"]["source"], REGISTRY, config["datasets"])
    for name, setup in SETUPS.items()
}

LISTS = ["defining", "equalize", "occupations", "gender_specific"]
WORD_LISTS = {key: str(configuration.locate(config["debiasing"][key], ROOT)) for key in LISTS}
BIAS_TESTS = [str(configuration.locate(file, ROOT)) for file in config["debiasing"]["weats"]]

# The code behind each rule's results: an edit of these modules, or of what they import, makes the results anew.
CODE = {
    "read_corpus": code_digest("biaslab.embeddings.corpus", "biaslab.embeddings.readers"),
    "count_cooccurrences": code_digest("biaslab.embeddings.cooccurrence"),
    "train": code_digest("biaslab.embeddings.retraining"),
    "collect_losses": code_digest("biaslab.embeddings.batches"),
    "measure_analogies": code_digest("biaslab.embeddings.analogies"),
    "measure_bias": code_digest("biaslab.origins.baseline"),
    "estimate_differential_bias": code_digest("biaslab.origins.estimation"),
    "select_sets": code_digest("biaslab.origins.perturbation"),
    "estimate_bias_gradient": code_digest("biaslab.origins.gradient"),
    "measure_seed_stability": code_digest("biaslab.origins.seed_stability"),
    "highlight_documents": code_digest(
        "biaslab.origins.explanation", "biaslab.origins.report.highlight", files=["origins/report/context.html.j2"]
    ),
    "evaluate_predictions": code_digest("biaslab.origins.evaluation"),
    "project_words": code_digest("biaslab.origins.axis"),
    "scan_ppmi": code_digest("biaslab.origins.ppmi_scan"),
    "select_documents": code_digest("biaslab.origins.single_documents"),
    "select_ppmi_sets": code_digest("biaslab.origins.ppmi_sets"),
    "compare_ppmi": code_digest("biaslab.origins.ppmi_comparison"),
    "train_word2vec": code_digest("biaslab.embeddings.word2vec"),
    "transfer": code_digest("biaslab.origins.transfer"),
    "write_tables": code_digest("biaslab.origins.report.tables"),
    "draw_figures": code_digest("biaslab.origins.report.figures"),
    "simulate_ranking": code_digest("biaslab.ranking.simulation"),
    "find_counterexamples": code_digest("biaslab.ranking.feasibility"),
    "write_ranking_tables": code_digest("biaslab.ranking.report.tables"),
    "draw_ranking_figures": code_digest("biaslab.ranking.report.figures"),
    "debias": code_digest("biaslab.debiasing.experiment"),
    "make_debiasing_transform": code_digest("biaslab.debiasing.transform"),
    "compare_document_rankings": code_digest("biaslab.debiasing.document_ranking"),
    "report_document_rankings": code_digest("biaslab.debiasing.report.document_ranking"),
    "write_debiasing_tables": code_digest("biaslab.debiasing.report.tables"),
    "draw_debiasing_figures": code_digest("biaslab.debiasing.report.figures"),
    "prepare_classifier": code_digest("biaslab.fairness_testing.cases"),
    "search_discrimination": code_digest("biaslab.fairness_testing.experiment"),
    "retrain_classifier": code_digest("biaslab.fairness_testing.retraining_experiment"),
    "write_fairness_tables": code_digest("biaslab.fairness_testing.report.tables"),
    "draw_fairness_figures": code_digest("biaslab.fairness_testing.report.figures"),
    "measure_claims": code_digest("biaslab.audit.measure"),
    "write_audit_page": code_digest("biaslab.audit.html", files=["audit/audit.html.j2"]),
}


wildcard_constraints:
    dataset=r"[a-z0-9-]+",
    setup="|".join(SETUPS),
    weat="|".join(config["weats"]),
    set=r"(ppmi-|single-)?[a-z][a-z0-9_]*-(increase|decrease|random)-\d+|random-\d+-\d+",
    batch=r"\d+",
    embedding="|".join(DEBIASED.embeddings),
    classifier="|".join(TESTED.classifiers),


def memory(megabytes):
    """Enough for the paper's Wiki setup; doubled at each retry."""
    return lambda wildcards, attempt: megabytes * 2 ** (attempt - 1)


def folder(wildcards):
    return f"results/origins/{wildcards.setup}"


def corpus_checksum(wildcards):
    """The checksum of a verified copy; nothing for a corpus that is read in place."""
    name = configuration.dataset_name(SETUPS[wildcards.setup]["corpus"]["source"])
    is_copy = name and CORPORA[wildcards.setup] == configuration.fetched_file(REGISTRY[name])
    return REGISTRY[name].sha256 if is_copy else ""


def corpus_source(wildcards):
    """The corpus. Of a verified copy the age does not count: read_corpus has its checksum as a parameter."""
    source = CORPORA[wildcards.setup]
    return ancient(source) if corpus_checksum(wildcards) else source


def corpus_options(wildcards):
    corpus = SETUPS[wildcards.setup]["corpus"]
    omitted = ["source"] if corpus["unit"] == "part" else ["source", "part_length"]
    return configuration.command_options({key: corpus[key] for key in corpus if key not in omitted})


def dataset_checksum(wildcards):
    return REGISTRY[wildcards.dataset].sha256


def dataset_options(wildcards):
    return configuration.command_options(configuration.dataset_places(wildcards.dataset, config["datasets"]))


def glove_options(wildcards):
    return configuration.command_options({**SETUPS[wildcards.setup]["glove"], "window": None})


def influence_options(wildcards):
    glove, bias = SETUPS[wildcards.setup]["glove"], SETUPS[wildcards.setup]["bias"]
    return configuration.command_options(
        {key: glove[key] for key in ["x_max", "alpha"]} | {"damping": bias["damping"]}
    )


def selection_options(wildcards):
    return configuration.command_options({**SETUPS[wildcards.setup]["perturbations"], "retrainings": None})


def ppmi_sizes(wildcards):
    return configuration.command_options({"sizes": SETUPS[wildcards.setup]["ppmi_sets"]["sizes"]})


def batch_options(wildcards):
    """First replicate and number of replicates of a batch of trainings."""
    batches = grid.batches_of(wildcards.get("set", grid.BASELINE), SETUPS[wildcards.setup])
    return configuration.command_options(batches[int(wildcards.batch)]._asdict() | {"index": None})


def sets_of(wildcards):
    return f"{folder(wildcards)}/{grid.sets_file(wildcards.set)}"


def baseline_embeddings(wildcards):
    return grid.embedding_files(folder(wildcards), [grid.BASELINE], SETUPS[wildcards.setup])


def retrained_embeddings(wildcards):
    setup = SETUPS[wildcards.setup]
    return grid.embedding_files(folder(wildcards), grid.perturbation_sets(setup), setup)


def paired_option(wildcards):
    return "--paired" if grid.is_single(wildcards.set) else ""


def single_options(wildcards):
    setup = SETUPS[wildcards.setup]
    chosen = {**setup["single_documents"], "trainings": None}
    return configuration.command_options({"estimator": setup["perturbations"]["estimator"], **chosen})


def single_embeddings(wildcards):
    setup = SETUPS[wildcards.setup]
    return grid.embedding_files(folder(wildcards), grid.single_sets(setup), setup)


def ppmi_embeddings(wildcards):
    setup = SETUPS[wildcards.setup]
    return grid.embedding_files(folder(wildcards), grid.ppmi_sets(setup), setup)


def every_embedding(wildcards):
    return baseline_embeddings(wildcards) + retrained_embeddings(wildcards)


def word2vec_options(wildcards):
    setup = SETUPS[wildcards.setup]
    glove = {key: setup["glove"][key] for key in ["dimension", "window"]}
    return configuration.command_options(glove | setup["word2vec"])


def left_out(wildcards):
    """The table of sets, for any set but the baseline."""
    return [] if wildcards.trained == grid.BASELINE else f"{folder(wildcards)}/perturbation_sets.parquet"


def left_out_options(wildcards, input):
    return f"--sets {shlex.quote(input.sets)}" if input.get("sets") else ""


def word2vec_embeddings(sets_of_setup):
    """The files of the baseline and of some sets."""

    def files(wildcards):
        names = [grid.BASELINE, *sets_of_setup(SETUPS[wildcards.setup])]
        return [f"{folder(wildcards)}/word2vec/embeddings/{name}/batch-0.npz" for name in names]

    return files


def no_sets(setup):
    return []


def axis_embeddings(wildcards):
    setup = SETUPS[wildcards.setup]
    return grid.embedding_files(folder(wildcards), [grid.BASELINE, *grid.largest_sets(setup)], setup)


def first_ppmi_scan(wildcards):
    return f"{folder(wildcards)}/ppmi/{SETUPS[wildcards.setup]['bias']['weats'][0]}.parquet"


def first_differential_bias(wildcards):
    return f"{folder(wildcards)}/differential_bias/{SETUPS[wildcards.setup]['bias']['weats'][0]}.parquet"


def differential_biases(wildcards):
    weats = SETUPS[wildcards.setup]["bias"]["weats"]
    return [f"{folder(wildcards)}/differential_bias/{weat}.parquet" for weat in weats]


def word_set(wildcards):
    return [configuration.locate(config["weats"][wildcards.weat], ROOT)]


def word_sets(wildcards):
    return [configuration.locate(config["weats"][w], ROOT) for w in SETUPS[wildcards.setup]["bias"]["weats"]]


def every_word_set(wildcards):
    return [configuration.locate(file, ROOT) for file in EXPERIMENT.get("weats", {}).values()]


def weat_options(wildcards, input):
    return [f"--weat {shlex.quote(path)}" for path in input.get("word_sets")]


def setup_options(wildcards):
    return [f"--setup {name}=results/origins/{name}" for name in SETUPS]


def run_options(wildcards):
    return [f"--setup {area}={name}" for area, names in RUNS.items() for name in names]


def area_results(*areas):
    """The tables, figures and measurements of areas, and what two of them make together."""
    together = ["debiasing_origins"] if {"debiasing", "origins"} <= set(areas) else []
    return [getattr(rules, name).input for name in [*areas, *together]]


def absent_options(wildcards):
    reasons = {name: reason for name, reason in ABSENT.items() if name not in SETUPS}
    reasons |= {name: reason for name, reason in DEBIASED.left_out.items() if name not in config["setups"]}
    reasons |= TESTED.left_out
    return [f"--absent {shlex.quote(f'{name}={reason}')}" for name, reason in reasons.items()]


def manifest_options(wildcards):
    files = CORPORA | {name: dataset_file(name) for name in DEBIASED.embeddings.values() if name}
    files |= {name: file_of_classifier(name, "data") for name in TESTED.classifiers}
    inputs = [f"--input {name}={shlex.quote(path)}" for name, path in files.items()]
    return [f"--code {name}={digest}" for name, digest in CODE.items()] + inputs


def dataset_file(name):
    return configuration.fetched_file(REGISTRY[name])


def debiased_embedding(wildcards):
    """A registered embedding, or the first baselines of a setup."""
    name = wildcards.embedding
    if dataset := DEBIASED.embeddings[name]:
        return dataset_file(dataset)
    return grid.embedding_files(f"results/origins/{name}", [grid.BASELINE], SETUPS[name])[0]


def authors_lists(*keys):
    """Lists of the authors if all of these are there, for a registered embedding."""

    def of_embedding(wildcards):
        known = DEBIASED.authors if DEBIASED.embeddings[wildcards.embedding] else {}
        return [dataset_file(known[key]) for key in keys] if set(keys) <= known.keys() else []

    return of_embedding


def benchmark_file(name):
    dataset = DEBIASED.benchmarks[name]
    return dataset_file(dataset) if dataset else ROOT / f"workflow/resources/benchmarks/{name}.tsv"


def debiasing_options(*keys):
    """The word lists, and further keys of the section."""
    return configuration.command_options(WORD_LISTS | {key: config["debiasing"][key] for key in keys})


def authors_options(*options):
    """The options for lists of the authors, all of which are there or none."""

    def of_input(wildcards, input):
        return [f"{option} {shlex.quote(path)}" for option, path in zip(options, input.get("authors"))]

    return of_input


def benchmark_options(wildcards):
    options = {
        name: "--questions" if name in DEBIASED.questions else "--pairs" for name in DEBIASED.benchmarks
    }
    return [f"{option} {name}={shlex.quote(str(benchmark_file(name)))}" for name, option in options.items()]


def transform_options(wildcards):
    method, _, penalty = wildcards.stage.partition("-")
    return configuration.command_options({"method": method, "lambda": penalty or None})


def rankings_of_documents(wildcards, before="results/origins", after="results/debiasing"):
    """The documents' differential bias before and after, of every test."""
    weats = SETUPS[wildcards.setup]["bias"]["weats"]
    return [
        f"{area}/{wildcards.setup}/differential_bias/{weat}.parquet"
        for area in (before, after)
        for weat in weats
    ]


def transforms_given(wildcards, input):
    return [f"--transform {path}" for path in input.transforms]


def survival_report(kind, suffix):
    labels = {"item": "Documents after debiasing", "embedding": "{setup}"}
    return report(
        f"results/debiasing/{{setup}}/{kind.lower()}/document_ranking{suffix}",
        category=PAPERS["debiasing"],
        subcategory=kind,
        caption=f"../report/{DOCUMENT_RANKING}.rst",
        labels=labels,
    )


def file_of_classifier(name, key):
    """A file of a classifier, registered or the user's own; none where the configuration names none."""
    file = TESTED.classifiers[name][key]
    dataset = configuration.dataset_name(file) if file else None
    if dataset:
        return dataset_file(dataset)
    return str(configuration.locate(file, ROOT)) if file else []


def classifier_file(key):
    return lambda wildcards: file_of_classifier(wildcards.classifier, key)


def named_inputs(*names):
    """Options that name those of some inputs which are there."""

    def of_input(wildcards, input):
        given = {name: input.get(name) for name in names if input.get(name)}
        return configuration.command_options({name: str(file) for name, file in given.items()})

    return of_input


def testing_options(*keys):
    """Keys of the section fairness_testing."""
    return configuration.command_options({key: config["fairness_testing"][key] for key in keys})


def measured(wildcards):
    """Every result that tables, figures and claims are drawn from."""
    return grid.result_files("results/origins", SETUPS)


def report_items(items, kind, suffix, area="origins"):
    """The files of tables or figures, each with its place in the report."""
    mark = partial(report, category=PAPERS[area], subcategory=kind)
    return [mark(f"results/{area}/{item.stem}{suffix}", **report_labels(item)) for item in items]


def report_labels(item):
    labels = {key: value for key, value in vars(item).items() if key not in ("stem", "caption")}
    return {"caption": f"../report/{item.caption}.rst", "labels": labels}
