from biaslab.bias.names import EFFECTS
from biaslab.origins import grid, sets
from biaslab.origins.inputs import Inputs as OriginsInputs

ORIGINS = OriginsInputs(PLAN)


wildcard_constraints:
    setup="|".join(ORIGINS.setups),
    weat="|".join(config["weats"]),
    set=sets.PATTERN,
    batch=r"\d+",


include: "origins_embeddings.smk"


rule measure_baseline:
    input:
        embeddings=ORIGINS.embeddings(grid.baseline_sets),
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        "results/origins/{setup}/baseline.tsv",
    log:
        "results/logs/origins/{setup}/measure_baseline.log",
    priority: 3  # most trainings wait for it
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        weats=ORIGINS.weat_options,
        permutations=lookup(dpath="setups/{setup}/bias/permutations", within=config),
        seed=config["seed"],
    message:
        "{wildcards.setup}: measure the baselines' bias"
    shell:
        "biaslab origins measure-baseline {input.embeddings} --vocabulary {input.vocabulary} {params.weats}"
        " --permutations {params.permutations} --seed {params.seed} --out {output} > {log} 2>&1"


rule estimate_differential_bias:
    input:
        embeddings=ORIGINS.embeddings(grid.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        documents="results/origins/{setup}/documents.parquet",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_set,
    output:
        "results/origins/{setup}/differential_bias/{weat}.parquet",
    log:
        "results/logs/origins/{setup}/estimate_differential_bias/{weat}.log",
    priority: 3  # most trainings wait for it
    conda:
        ENVIRONMENT
    threads: LIMITS.threads(8)
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(480),
    params:
        weats=ORIGINS.weat_options,
        options=ORIGINS.influence_options,
        transforms=ORIGINS.transform_options,
    message:
        "{wildcards.setup}: estimate every document's differential bias of {wildcards.weat}"
    shell:
        "biaslab origins differential-bias {input.embeddings} --cooccurrence {input.cooccurrence}"
        " --corpus {input.corpus} --documents {input.documents} --vocabulary {input.vocabulary} {params.weats}"
        " {params.options} {params.transforms} --threads {threads} --out {output} > {log} 2>&1"


rule estimate_bias_gradient:
    input:
        embeddings=ORIGINS.embeddings(grid.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_set,
    output:
        pairs="results/origins/{setup}/bias_gradient/{weat}.parquet",
    log:
        "results/logs/origins/{setup}/estimate_bias_gradient/{weat}.log",
    priority: 3  # most trainings wait for it
    conda:
        ENVIRONMENT
    threads: LIMITS.threads(2)
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(ORIGINS.influence),
    message:
        "{wildcards.setup}: estimate every co-occurrence's effect on {wildcards.weat}"
    shell:
        "biaslab step origins.estimate-bias-gradient --given {params.given:q} --threads {threads} > {log} 2>&1"


rule measure_seed_stability:
    input:
        differential_bias=ORIGINS.of_tests("differential_bias"),
    output:
        stability_table="results/origins/{setup}/seed_stability.tsv",
    log:
        "results/logs/origins/{setup}/measure_seed_stability.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: measure how far the ranking of documents depends on the seeds"
    shell:
        "biaslab step origins.measure-seed-stability --given {params.given:q} > {log} 2>&1"


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
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given("setup", folder="results/origins/{setup}"),
    message:
        "{wildcards.setup}: highlight the documents with the most influence on {wildcards.weat}"
    shell:
        "biaslab step origins.highlight-documents --given {params.given:q} > {log} 2>&1"


rule select_sets:
    input:
        ORIGINS.of_tests("differential_bias"),
    output:
        "results/origins/{setup}/perturbation_sets.parquet",
    log:
        "results/logs/origins/{setup}/select_sets.log",
    priority: 3  # most trainings wait for it
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        options=ORIGINS.selection_options,
        seed=config["seed"],
    message:
        "{wildcards.setup}: select the documents of every perturbation set"
    shell:
        "biaslab origins select-sets {input} {params.options} --seed {params.seed} --out {output} > {log} 2>&1"


rule predict_sets:
    input:
        embeddings=ORIGINS.embeddings(grid.baseline_sets),
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        sets="results/origins/{setup}/perturbation_sets.parquet",
        word_sets=ORIGINS.word_sets,
    output:
        "results/origins/{setup}/predictions.tsv",
    log:
        "results/logs/origins/{setup}/predict_sets.log",
    conda:
        ENVIRONMENT
    threads: LIMITS.threads(8)
    resources:
        mem_mb=LIMITS.memory(4000),
        runtime=LIMITS.minutes(240),
    params:
        weats=ORIGINS.weat_options,
        options=ORIGINS.influence_options,
    message:
        "{wildcards.setup}: predict the bias after the removal of every set"
    shell:
        "biaslab origins predict-sets {input.embeddings} --cooccurrence {input.cooccurrence}"
        " --corpus {input.corpus} --vocabulary {input.vocabulary}"
        " --sets {input.sets} {params.weats} {params.options} --threads {threads}"
        " --out {output} > {log} 2>&1"


rule measure_sets:
    input:
        embeddings=ORIGINS.embeddings(grid.perturbation_sets),
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        "results/origins/{setup}/observed.tsv",
    log:
        "results/logs/origins/{setup}/measure_sets.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(120),
    params:
        weats=ORIGINS.weat_options,
    message:
        "{wildcards.setup}: measure the bias after every removal"
    shell:
        "biaslab origins measure-sets {input.embeddings} --vocabulary {input.vocabulary} {params.weats}"
        " --out {output} > {log} 2>&1"


rule evaluate_predictions:
    input:
        baseline="results/origins/{setup}/baseline.tsv",
        predictions="results/origins/{setup}/predictions.tsv",
        observed="results/origins/{setup}/observed.tsv",
    output:
        perturbations="results/origins/{setup}/perturbations.tsv",
        correlation="results/origins/{setup}/correlation.tsv",
    log:
        "results/logs/origins/{setup}/evaluate_predictions.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        seed=config["seed"],
    message:
        "{wildcards.setup}: compare predicted with observed bias"
    shell:
        "biaslab origins evaluate --baseline {input.baseline} --predictions {input.predictions}"
        " --observed {input.observed} --seed {params.seed}"
        " --perturbations {output.perturbations} --correlation {output.correlation} > {log} 2>&1"


rule scan_ppmi:
    input:
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        documents="results/origins/{setup}/documents.parquet",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_set,
    output:
        scan="results/origins/{setup}/ppmi/{weat}.parquet",
    log:
        "results/logs/origins/{setup}/scan_ppmi/{weat}.log",
    priority: 3  # most trainings wait for it
    conda:
        ENVIRONMENT
    threads: LIMITS.threads(8)
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(240),
    params:
        given=given(),
    message:
        "{wildcards.setup}: measure every document's differential bias of {wildcards.weat} by PPMI"
    shell:
        "biaslab step origins.scan-ppmi --given {params.given:q} --threads {threads} > {log} 2>&1"


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
    log:
        "results/logs/origins/{setup}/compare_ppmi.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(120),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: compare the bias in GloVe with that in the PPMI representation"
    shell:
        "biaslab step origins.compare-ppmi --given {params.given:q} > {log} 2>&1"


rule project_words:
    input:
        embeddings=ORIGINS.embeddings(grid.baseline_sets, grid.largest_sets),
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=ORIGINS.word_sets,
    output:
        projections="results/origins/{setup}/projections.tsv",
        frequency="results/origins/{setup}/axis_frequency.tsv",
    log:
        "results/logs/origins/{setup}/project_words.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(seed=config["seed"]),
    message:
        "{wildcards.setup}: project the target words onto the bias axis"
    shell:
        "biaslab step origins.project-words --given {params.given:q} > {log} 2>&1"


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
