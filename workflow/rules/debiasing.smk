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
        seeds=DEBIASING.authors_lists("seeds"),
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
                "classifier",
                "classifier_authors",
                "axes",
                "analogies",
                "puzzles",
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
            analogies=BIASES["analogies"],
        ),
    message:
        "{wildcards.embedding}: measure bias, words and analogies before and after debiasing"
    shell:
        step("debiasing.measure-debiasing")


rule score_benchmarks:
    input:
        list(DEBIASING.benchmarks.values()),
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
            **DEBIASING.tasks,
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
        list(DEBIASING.benchmarks.values()),
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
            **DEBIASING.tasks,
            settings=part(BIASES, "components", "strictness") | {"seed": config["seed"]},
            penalty=BIASES["lambda"],
            methods=BIASES["comparison"]["methods"],
            sizes=part(BIASES["comparison"], "clustered", "classified", "neighbours", "random_directions"),
        ),
    message:
        "{wildcards.embedding}: compare methods of debiasing and the bias that remains"
    shell:
        step("debiasing.compare-methods")


rule debiasing:
    input:
        PLAN.report_files("debiasing"),
    message:
        "all tables and figures of debiasing word embeddings"
