from biaslab.debiasing.inputs import Inputs as DebiasingInputs

DEBIASING = DebiasingInputs(PLAN)
BIASES = config["debiasing"]


wildcard_constraints:
    embedding="|".join(DEBIASING.units),


rule measure_debiasing:
    input:
        list(DEBIASING.benchmarks.values()),
        lists=DEBIASING.word_lists,
        embedding=DEBIASING.embedding,
        word_sets=DEBIASING.tests,
        occupations=DEBIASING.authors_lists("occupations"),
        seeds=DEBIASING.authors_lists("seeds"),
        authors=DEBIASING.authors_lists("equalize", "specific"),
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
                "benchmarks",
                "lambda_path",
                "methods",
            ],
        ),
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(120),
    params:
        given=given(
            **DEBIASING.tasks,
            settings=part(BIASES, "components", "strictness", "permutations") | {"seed": config["seed"]},
            penalty=BIASES["lambda"],
            penalties=BIASES["lambdas"],
            draws=BIASES["random_draws"],
            analogies=BIASES["analogies"],
            methods=BIASES["comparison"]["methods"],
            sizes=part(BIASES["comparison"], "clustered", "classified", "neighbours", "random_directions"),
        ),
    message:
        "{wildcards.embedding}: measure bias, words, analogies and benchmarks before and after debiasing"
    shell:
        step("debiasing.measure-embedding")


rule debiasing:
    input:
        PLAN.report_files("debiasing"),
        expand(rules.measure_debiasing.output, embedding=DEBIASING.units),
    message:
        "all tables and figures of debiasing word embeddings"
