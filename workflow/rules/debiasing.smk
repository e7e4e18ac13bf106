from biaslab.debiasing.inputs import Inputs as DebiasingInputs

DEBIASING = DebiasingInputs(PLAN)
BIASES = config["debiasing"]


wildcard_constraints:
    embedding="|".join(DEBIASING.units),


rule measure_debiasing:
    input:
        lists=DEBIASING.word_lists,
        embedding=DEBIASING.embedding,
        word_sets=DEBIASING.tests,
        authors=DEBIASING.authors_lists("occupations"),
    output:
        tables=expand(
            "results/debiasing/{{embedding}}/{name}.tsv",
            name=[
                "subspace",
                "bias",
                "weat",
                "occupations",
                "occupations_authors",
                "indirect",
                "similarities",
                "vocabulary",
                "settings",
                "lost_words",
            ],
        ),
    log:
        "results/logs/debiasing/{embedding}/measure_debiasing.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1500),
        runtime=LIMITS.minutes(30),
    params:
        given=given(
            settings=part(BIASES, "components", "strictness", "permutations") | {"seed": config["seed"]},
            penalty=BIASES["lambda"],
            draws=BIASES["random_draws"],
        ),
    message:
        "{wildcards.embedding}: measure the bias before and after debiasing"
    shell:
        "biaslab step debiasing.measure-debiasing --given {params.given:q} > {log} 2>&1"


rule classify_words:
    input:
        lists=DEBIASING.word_lists,
        embedding=DEBIASING.embedding,
        authors=DEBIASING.authors_lists("seeds"),
    output:
        tables=expand(
            "results/debiasing/{{embedding}}/{name}.tsv",
            name=["classifier", "classifier_authors", "axes"],
        ),
    log:
        "results/logs/debiasing/{embedding}/classify_words.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1500),
        runtime=LIMITS.minutes(30),
    params:
        given=given(
            settings=part(BIASES, "components") | {"seed": config["seed"]},
        ),
    message:
        "{wildcards.embedding}: tell gender-specific words from neutral ones"
    shell:
        "biaslab step debiasing.classify-words --given {params.given:q} > {log} 2>&1"


rule generate_analogies:
    input:
        lists=DEBIASING.word_lists,
        embedding=DEBIASING.embedding,
    output:
        tables=expand("results/debiasing/{{embedding}}/{name}.tsv", name=["analogies", "puzzles"]),
    log:
        "results/logs/debiasing/{embedding}/generate_analogies.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1500),
        runtime=LIMITS.minutes(60),
    params:
        given=given(
            settings=part(BIASES, "components"),
            penalty=BIASES["lambda"],
            count=BIASES["analogies"],
        ),
    message:
        "{wildcards.embedding}: generate analogies before and after debiasing"
    shell:
        "biaslab step debiasing.generate-analogies --given {params.given:q} > {log} 2>&1"


rule score_benchmarks:
    input:
        DEBIASING.benchmark_files(),
        lists=DEBIASING.word_lists,
        embedding=DEBIASING.embedding,
        word_sets=DEBIASING.tests,
        authors=DEBIASING.authors_lists("equalize", "specific"),
    output:
        tables=expand("results/debiasing/{{embedding}}/{name}.tsv", name=["benchmarks", "lambda_path"]),
    log:
        "results/logs/debiasing/{embedding}/score_benchmarks.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1500),
        runtime=LIMITS.minutes(60),
    params:
        given=given(
            DEBIASING.benchmark_tasks,
            settings=part(BIASES, "components", "strictness", "permutations") | {"seed": config["seed"]},
            penalty=BIASES["lambda"],
            penalties=BIASES["lambdas"],
        ),
    message:
        "{wildcards.embedding}: score benchmarks before, after and along the path of soft debiasing"
    shell:
        "biaslab step debiasing.score-benchmarks --given {params.given:q} > {log} 2>&1"


rule compare_methods:
    input:
        DEBIASING.benchmark_files(),
        lists=DEBIASING.word_lists,
        sembias=DEBIASING.sembias,
        embedding=DEBIASING.embedding,
        word_sets=DEBIASING.tests,
    output:
        tables=expand("results/debiasing/{{embedding}}/{name}.tsv", name=["methods", "professions"]),
    log:
        "results/logs/debiasing/{embedding}/compare_methods.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        given=given(
            DEBIASING.benchmark_tasks,
            settings=part(BIASES, "components", "strictness") | {"seed": config["seed"]},
            penalty=BIASES["lambda"],
            methods=BIASES["comparison"]["methods"],
            sizes=part(BIASES["comparison"], "clustered", "classified", "neighbours", "random_directions"),
        ),
    message:
        "{wildcards.embedding}: compare methods of debiasing, and what they leave of the bias"
    shell:
        "biaslab step debiasing.compare-methods --given {params.given:q} > {log} 2>&1"


rule debiasing:
    input:
        rules.report_debiasing.output,
    message:
        "all tables and figures of debiasing word embeddings"


if DEBIASING.setups:

    include: "debiasing_origins.smk"
