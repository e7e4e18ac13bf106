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
            ],
        ),
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
        step("debiasing.measure-debiasing")


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
        step("debiasing.classify-words")


rule generate_analogies:
    input:
        lists=DEBIASING.word_lists,
        embedding=DEBIASING.embedding,
    output:
        tables=expand("results/debiasing/{{embedding}}/{name}.tsv", name=["analogies", "puzzles"]),
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
        step("debiasing.generate-analogies")


rule score_benchmarks:
    input:
        DEBIASING.benchmark_files(),
        lists=DEBIASING.word_lists,
        embedding=DEBIASING.embedding,
        word_sets=DEBIASING.tests,
        authors=DEBIASING.authors_lists("equalize", "specific"),
    output:
        tables=expand("results/debiasing/{{embedding}}/{name}.tsv", name=["benchmarks", "lambda_path"]),
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
        step("debiasing.score-benchmarks")


rule compare_methods:
    input:
        DEBIASING.benchmark_files(),
        lists=DEBIASING.word_lists,
        embedding=DEBIASING.embedding,
        word_sets=DEBIASING.tests,
    output:
        out="results/debiasing/{embedding}/methods.tsv",
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
        step("debiasing.compare-methods")


rule debiasing:
    input:
        PLAN.report_files("debiasing"),
    message:
        "all tables and figures of debiasing word embeddings"
