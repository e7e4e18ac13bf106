from biaslab.origins import expansion
from biaslab.origins.analyses import RULE_FILES
from biaslab.origins.sets import BASELINE, PATTERN
from biaslab.origins.inputs import Inputs as OriginsInputs

ORIGINS = OriginsInputs(PLAN)


wildcard_constraints:
    setup="|".join(ORIGINS.setups),
    weat="|".join(config["origins"]["weats"]),
    set=PATTERN,
    batch=r"\d+",


include: "origins_embeddings.smk"
include: "origins_attribution.smk"
include: "origins_pages.smk"


rule measure_baselines:
    input:
        embeddings=ORIGINS.embeddings(expansion.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/baseline.tsv",
        by_ppmi="results/origins/{setup}/ppmi/baseline.tsv",
        random_sets="results/origins/{setup}/ppmi/word_sets.tsv",
        correlation="results/origins/{setup}/ppmi/correlation.tsv",
    priority: 3  # most trainings depend on this step
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(120),
    params:
        given=given(
            ORIGINS.keys("bias", "permutations"),
            ORIGINS.keys("ppmi_comparison", "random_tests"),
            seed=config["seed"],
        ),
    message:
        "{wildcards.setup}: measure the bias of the baselines and compare it with PPMI"
    shell:
        step("origins.measure-baselines")


rule select_sets:
    input:
        differential_bias=ORIGINS.of_tests("differential_bias"),
        scan=lambda wildcards: ORIGINS.of_tests("ppmi")(wildcards)[0],
    output:
        out="results/origins/{setup}/perturbation_sets.parquet",
        out_by_ppmi="results/origins/{setup}/ppmi/perturbation_sets.parquet",
    priority: 3  # most trainings depend on this step
    localrule: True
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(
            ORIGINS.keys("perturbations", "estimator", "sizes", "random_sizes", "random_sets"),
            ORIGINS.keys("ppmi_sets", sizes_by_ppmi="sizes"),
            seed=config["seed"],
        ),
    message:
        "{wildcards.setup}: select the documents of every perturbation set"
    shell:
        step("origins.select-sets")


for file in RULE_FILES:

    include: file


rule evaluate_retrainings:
    input:
        measured=ORIGINS.measured("measured", expansion.perturbation_sets),
        measured_by_ppmi=ORIGINS.measured("measured", expansion.ppmi_sets),
        answered=ORIGINS.measured("answered", expansion.baseline_sets, expansion.perturbation_sets),
        projected=ORIGINS.measured("projected", expansion.baseline_sets, expansion.largest_sets),
        baseline="results/origins/{setup}/baseline.tsv",
        predictions="results/origins/{setup}/predictions.tsv",
        cross_fitted="results/origins/{setup}/cross_fitting/predictions.tsv",
        ppmi="results/origins/{setup}/ppmi/sets.tsv",
        word2vec=ORIGINS.word2vec_bias,
        sets="results/origins/{setup}/perturbation_sets.parquet",
    output:
        observed="results/origins/{setup}/observed.tsv",
        observed_by_ppmi="results/origins/{setup}/ppmi/observed.tsv",
        analogies="results/origins/{setup}/analogies.tsv",
        projections="results/origins/{setup}/projections.tsv",
        frequency="results/origins/{setup}/axis_frequency.tsv",
        perturbations="results/origins/{setup}/perturbations.tsv",
        correlation="results/origins/{setup}/correlation.tsv",
        cross_fitting="results/origins/{setup}/cross_fitting.tsv",
        changes="results/origins/{setup}/transfer/changes.tsv",
        responses="results/origins/{setup}/transfer/responses.tsv",
    localrule: True
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: compare predictions with all retrained embeddings"
    shell:
        step("origins.evaluate-retrainings")


rule origins:
    input:
        PLAN.report_files("origins"),
        ORIGINS.pages(),
        ORIGINS.results(),
    message:
        "write all tables and figures of the origins of bias"
