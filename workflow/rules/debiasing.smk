from biaslab.debiasing.inputs import Inputs as DebiasingInputs

DEBIASING = DebiasingInputs(PLAN)


wildcard_constraints:
    embedding="|".join(DEBIASING.units),


rule measure_debiasing:
    input:
        DEBIASING.word_lists,
        embedding=DEBIASING.embedding,
        word_sets=DEBIASING.tests,
        authors=DEBIASING.authors_lists("occupations"),
    output:
        expand(
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
        folder=folder("results/debiasing/{embedding}"),
        options=DEBIASING.options("components", "strictness", "lambda", "permutations"),
        draws=config["debiasing"]["random_draws"],
        weats=DEBIASING.weat_options,
        authors=DEBIASING.authors_options("--authors-occupations"),
        seed=config["seed"],
    message:
        "{wildcards.embedding}: measure the bias before and after debiasing"
    shell:
        "biaslab debiasing experiment measure {input.embedding:q} --results {params.folder}"
        " {params.options} --draws {params.draws} {params.weats} {params.authors} --seed {params.seed}"
        " > {log} 2>&1"


rule classify_words:
    input:
        DEBIASING.word_lists,
        embedding=DEBIASING.embedding,
        authors=DEBIASING.authors_lists("seeds"),
    output:
        expand(
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
        folder=folder("results/debiasing/{embedding}"),
        options=DEBIASING.options("components"),
        authors=DEBIASING.authors_options("--authors-specific"),
        seed=config["seed"],
    message:
        "{wildcards.embedding}: tell gender-specific words from neutral ones"
    shell:
        "biaslab debiasing experiment classify {input.embedding:q} --results {params.folder}"
        " {params.options} {params.authors} --seed {params.seed} > {log} 2>&1"


rule generate_analogies:
    input:
        DEBIASING.word_lists,
        embedding=DEBIASING.embedding,
    output:
        expand("results/debiasing/{{embedding}}/{name}.tsv", name=["analogies", "puzzles"]),
    log:
        "results/logs/debiasing/{embedding}/generate_analogies.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1500),
        runtime=LIMITS.minutes(60),
    params:
        folder=folder("results/debiasing/{embedding}"),
        options=DEBIASING.options("components", "lambda"),
        number=config["debiasing"]["analogies"],
    message:
        "{wildcards.embedding}: generate analogies before and after debiasing"
    shell:
        "biaslab debiasing experiment analogies {input.embedding:q} --results {params.folder}"
        " {params.options} --count {params.number} > {log} 2>&1"


rule score_benchmarks:
    input:
        DEBIASING.word_lists,
        DEBIASING.benchmark_files(),
        embedding=DEBIASING.embedding,
        word_sets=DEBIASING.tests,
        authors=DEBIASING.authors_lists("equalize", "specific"),
    output:
        expand("results/debiasing/{{embedding}}/{name}.tsv", name=["benchmarks", "lambda_path"]),
    log:
        "results/logs/debiasing/{embedding}/score_benchmarks.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(1500),
        runtime=LIMITS.minutes(60),
    params:
        folder=folder("results/debiasing/{embedding}"),
        options=DEBIASING.options("components", "strictness", "lambda", "lambdas", "permutations"),
        benchmarks=DEBIASING.benchmark_options(),
        weats=DEBIASING.weat_options,
        authors=DEBIASING.authors_options("--authors-equalize", "--authors-specific"),
        seed=config["seed"],
    message:
        "{wildcards.embedding}: score benchmarks before, after and along the path of soft debiasing"
    shell:
        "biaslab debiasing experiment benchmarks {input.embedding:q} --results {params.folder}"
        " {params.options} {params.benchmarks} {params.weats} {params.authors} --seed {params.seed} > {log} 2>&1"


rule compare_methods:
    input:
        DEBIASING.word_lists,
        DEBIASING.benchmark_files(),
        DEBIASING.sembias,
        embedding=DEBIASING.embedding,
        word_sets=DEBIASING.tests,
    output:
        expand("results/debiasing/{{embedding}}/{name}.tsv", name=["methods", "professions"]),
    log:
        "results/logs/debiasing/{embedding}/compare_methods.log",
    conda:
        ENVIRONMENT
    resources:
        mem_mb=LIMITS.memory(2000),
        runtime=LIMITS.minutes(60),
    params:
        folder=folder("results/debiasing/{embedding}"),
        options=DEBIASING.options("components", "strictness", "lambda"),
        compared=DEBIASING.compare_options(),
        benchmarks=DEBIASING.benchmark_options(),
        weats=DEBIASING.weat_options,
        seed=config["seed"],
    message:
        "{wildcards.embedding}: compare methods of debiasing, and what they leave of the bias"
    shell:
        "biaslab debiasing compare {input.embedding:q} --results {params.folder}"
        " {params.options} {params.compared} {params.benchmarks} {params.weats} --seed {params.seed} > {log} 2>&1"


rule debiasing:
    input:
        rules.report_debiasing.output,
    message:
        "all tables and figures of debiasing word embeddings"


if DEBIASING.setups:

    include: "debiasing_origins.smk"
