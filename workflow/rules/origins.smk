from biaslab.bias.names import EFFECTS
from biaslab.origins import grid, sets
from biaslab.origins.inputs import Inputs as OriginsInputs

ORIGINS = OriginsInputs(PLAN)


wildcard_constraints:
    setup="|".join(ORIGINS.setups),
    weat="|".join(config["origins"]["weats"]),
    set=sets.PATTERN,
    batch=r"\d+",


include: "origins_embeddings.smk"


rule measure_baseline:
    input:
        embeddings=ORIGINS.embeddings(grid.baseline_sets),
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/baseline.tsv",
    priority: 3  # most trainings wait for it
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(ORIGINS.permutations, seed=config["seed"]),
    message:
        "{wildcards.setup}: measure the baselines' bias"
    shell:
        step("origins.measure-baseline")


rule estimate_differential_bias:
    input:
        embeddings=ORIGINS.embeddings(grid.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        documents="results/origins/{setup}/documents.parquet",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_set,
    output:
        out="results/origins/{setup}/differential_bias/{weat}.parquet",
    priority: 3  # most trainings wait for it
    threads: LIMITS.threads(8)
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(480),
    params:
        given=given(ORIGINS.influence),
    message:
        "{wildcards.setup}: estimate every document's differential bias of {wildcards.weat}"
    shell:
        step("origins.estimate-differential-bias")


rule estimate_bias_gradient:
    input:
        embeddings=ORIGINS.embeddings(grid.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_set,
    output:
        pairs="results/origins/{setup}/bias_gradient/{weat}.parquet",
    priority: 3  # most trainings wait for it
    threads: LIMITS.threads(2)
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(ORIGINS.influence),
    message:
        "{wildcards.setup}: estimate every co-occurrence's effect on {wildcards.weat}"
    shell:
        step("origins.estimate-bias-gradient")


rule measure_seed_stability:
    input:
        differential_bias=ORIGINS.of_tests("differential_bias"),
    output:
        stability_table="results/origins/{setup}/seed_stability.tsv",
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: measure how far the ranking of documents depends on the seeds"
    shell:
        step("origins.measure-seed-stability")


rule highlight_documents:
    input:
        "results/origins/{setup}/bias_gradient/{weat}.parquet",
        "results/origins/{setup}/differential_bias/{weat}.parquet",
        "results/origins/{setup}/baseline.tsv",
        "results/origins/{setup}/cooccurrence.npz",
        "results/origins/{setup}/corpus.npz",
        "results/origins/{setup}/documents.parquet",
        "results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_set,
    output:
        **{
            effect: report(
                f"results/origins/{{setup}}/context_{{weat}}_{effect}.html",
                category=PLAN.area("origins").paper,
                subcategory="Documents",
                caption="../report/context.rst",
                labels={"item": f"Document that {effect} the bias", "setup": "{setup}", "weat": "{weat}"},
            )
            for effect in EFFECTS
        },
    log:
        "results/logs/origins/{setup}/highlight_documents/{weat}.log",
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given("setup", folder="results/origins/{setup}"),
    message:
        "{wildcards.setup}: highlight the documents with the most influence on {wildcards.weat}"
    shell:
        step("origins.highlight-documents")


rule select_sets:
    input:
        differential_bias=ORIGINS.of_tests("differential_bias"),
    output:
        out="results/origins/{setup}/perturbation_sets.parquet",
    priority: 3  # most trainings wait for it
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(ORIGINS.selection, seed=config["seed"]),
    message:
        "{wildcards.setup}: select the documents of every perturbation set"
    shell:
        step("origins.select-sets")


rule predict_sets:
    input:
        embeddings=ORIGINS.embeddings(grid.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        sets="results/origins/{setup}/perturbation_sets.parquet",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/predictions.tsv",
    threads: LIMITS.threads(8)
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(240),
    params:
        given=given(ORIGINS.influence),
    message:
        "{wildcards.setup}: predict the bias after the removal of every set"
    shell:
        step("origins.predict-sets")


rule measure_sets:
    input:
        embeddings=ORIGINS.embeddings(grid.perturbation_sets),
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        out="results/origins/{setup}/observed.tsv",
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(120),
    params:
        given=given(),
    message:
        "{wildcards.setup}: measure the bias after every removal"
    shell:
        step("origins.measure-sets")


rule evaluate_predictions:
    input:
        baseline="results/origins/{setup}/baseline.tsv",
        predictions="results/origins/{setup}/predictions.tsv",
        observed="results/origins/{setup}/observed.tsv",
    output:
        perturbations="results/origins/{setup}/perturbations.tsv",
        correlation="results/origins/{setup}/correlation.tsv",
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: compare predicted with observed bias"
    shell:
        step("origins.evaluate-predictions")


rule scan_ppmi:
    input:
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        documents="results/origins/{setup}/documents.parquet",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_set,
    output:
        scan="results/origins/{setup}/ppmi/{weat}.parquet",
    priority: 3  # most trainings wait for it
    threads: LIMITS.threads(8)
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(240),
    params:
        given=given(),
    message:
        "{wildcards.setup}: measure every document's differential bias of {wildcards.weat} by PPMI"
    shell:
        step("origins.scan-ppmi")


rule compare_ppmi:
    input:
        embeddings=ORIGINS.embeddings(grid.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        baseline="results/origins/{setup}/ppmi/baseline.tsv",
        random_sets="results/origins/{setup}/ppmi/word_sets.tsv",
        correlation="results/origins/{setup}/ppmi/correlation.tsv",
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(120),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: compare the bias in GloVe with that in the PPMI representation"
    shell:
        step("origins.compare-ppmi")


rule project_words:
    input:
        embeddings=ORIGINS.embeddings(grid.baseline_sets, grid.largest_sets),
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        projections="results/origins/{setup}/projections.tsv",
        frequency="results/origins/{setup}/axis_frequency.tsv",
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: project the target words onto the bias axis"
    shell:
        step("origins.project-words")


include: "origins_retraining.smk"
include: "origins_transfer.smk"
include: "origins_attribution.smk"
include: "origins_checks.smk"


rule origins:
    input:
        rules.report_origins.output,
        ORIGINS.pages(),
        ORIGINS.results(),
    message:
        "all tables and figures of the origins of bias"
