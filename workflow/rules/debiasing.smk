from biaslab.debiasing import area as debiasing_plan
from biaslab.debiasing.report.tables import COLUMNS as DEBIASING_RESULTS


rule measure_debiasing:
    input:
        WORD_LISTS.values(),
        embedding=debiased_embedding,
        word_sets=BIAS_TESTS,
        authors=authors_lists("occupations"),
    output:
        expand(
            "results/debiasing/{{embedding}}/{name}.tsv",
            name=["subspace", "bias", "weat", "occupations", "indirect", "lost_words"],
        ),
    log:
        "results/logs/debiasing/{embedding}/measure_debiasing.log",
    benchmark:
        "results/benchmarks/debiasing/{embedding}/measure_debiasing.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1500),
        runtime=30,
    params:
        options=debiasing_options("components", "strictness", "lambda", "permutations"),
        draws=config["debiasing"]["random_draws"],
        weats=weat_options,
        authors=authors_options("--authors-occupations"),
        seed=config["seed"],
        code=CODE["debias"],
    message:
        "{wildcards.embedding}: measure the bias before and after debiasing"
    shell:
        "biaslab debiasing experiment measure {input.embedding:q} --results results/debiasing/{wildcards.embedding}"
        " {params.options} --draws {params.draws} {params.weats} {params.authors} --seed {params.seed}"
        " > {log} 2>&1"


rule classify_words:
    input:
        WORD_LISTS.values(),
        embedding=debiased_embedding,
        authors=authors_lists("seeds"),
    output:
        expand(
            "results/debiasing/{{embedding}}/{name}.tsv",
            name=["classifier", "classifier_authors", "axes"],
        ),
    log:
        "results/logs/debiasing/{embedding}/classify_words.log",
    benchmark:
        "results/benchmarks/debiasing/{embedding}/classify_words.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1500),
        runtime=30,
    params:
        options=debiasing_options("components"),
        authors=authors_options("--authors-specific"),
        seed=config["seed"],
        code=CODE["debias"],
    message:
        "{wildcards.embedding}: tell gender-specific words from neutral ones"
    shell:
        "biaslab debiasing experiment classify {input.embedding:q} --results results/debiasing/{wildcards.embedding}"
        " {params.options} {params.authors} --seed {params.seed} > {log} 2>&1"


rule generate_analogies:
    input:
        WORD_LISTS.values(),
        embedding=debiased_embedding,
    output:
        expand("results/debiasing/{{embedding}}/{name}.tsv", name=["analogies", "puzzles"]),
    log:
        "results/logs/debiasing/{embedding}/generate_analogies.log",
    benchmark:
        "results/benchmarks/debiasing/{embedding}/generate_analogies.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1500),
        runtime=60,
    params:
        options=debiasing_options("components", "lambda"),
        number=config["debiasing"]["analogies"],
        code=CODE["debias"],
    message:
        "{wildcards.embedding}: generate analogies before and after debiasing"
    shell:
        "biaslab debiasing experiment analogies {input.embedding:q} --results results/debiasing/{wildcards.embedding}"
        " {params.options} --count {params.number} > {log} 2>&1"


rule score_benchmarks:
    input:
        WORD_LISTS.values(),
        [benchmark_file(name) for name in DEBIASED.benchmarks],
        embedding=debiased_embedding,
        word_sets=BIAS_TESTS,
        authors=authors_lists("equalize", "specific"),
    output:
        expand("results/debiasing/{{embedding}}/{name}.tsv", name=["benchmarks", "lambda_path"]),
    log:
        "results/logs/debiasing/{embedding}/score_benchmarks.log",
    benchmark:
        "results/benchmarks/debiasing/{embedding}/score_benchmarks.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1500),
        runtime=60,
    params:
        options=debiasing_options("components", "strictness", "lambda", "lambdas", "permutations"),
        benchmarks=benchmark_options,
        weats=weat_options,
        authors=authors_options("--authors-equalize", "--authors-specific"),
        seed=config["seed"],
        code=CODE["debias"],
    message:
        "{wildcards.embedding}: score benchmarks before, after and along the path of soft debiasing"
    shell:
        "biaslab debiasing experiment benchmarks {input.embedding:q} --results results/debiasing/{wildcards.embedding}"
        " {params.options} {params.benchmarks} {params.weats} {params.authors} --seed {params.seed} > {log} 2>&1"


rule write_debiasing_tables:
    input:
        expand(
            "results/debiasing/{embedding}/{name}.tsv",
            embedding=DEBIASED.embeddings,
            name=DEBIASING_RESULTS,
        ),
    output:
        report_items(debiasing_plan.TABLES, "Tables", ".tsv", "debiasing"),
        expand(
            "results/debiasing/{item.stem}{suffix}",
            item=debiasing_plan.TABLES,
            suffix=[".md", ".tex"],
        ),
    log:
        "results/logs/debiasing/write_debiasing_tables.log",
    benchmark:
        "results/benchmarks/debiasing/write_debiasing_tables.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=10,
    params:
        embeddings=expand("results/debiasing/{embedding}", embedding=DEBIASED.embeddings),
        code=CODE["write_debiasing_tables"],
    message:
        "write the tables of debiasing"
    shell:
        "biaslab debiasing tables {params.embeddings} --out results/debiasing/tables > {log} 2>&1"


rule draw_debiasing_figures:
    input:
        expand(
            "results/debiasing/{{embedding}}/{name}.tsv",
            name=["occupations", "subspace", "axes", "lambda_path"],
        ),
    output:
        report_items(debiasing_plan.figures(["{embedding}"]), "Figures", ".svg", "debiasing"),
        expand(
            "results/debiasing/{item.stem}{suffix}",
            item=debiasing_plan.figures(["{embedding}"]),
            suffix=[".pdf", ".png", ".tsv"],
        ),
    log:
        "results/logs/debiasing/{embedding}/draw_debiasing_figures.log",
    benchmark:
        "results/benchmarks/debiasing/{embedding}/draw_debiasing_figures.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=10,
    params:
        code=CODE["draw_debiasing_figures"],
    message:
        "{wildcards.embedding}: draw the figures of debiasing"
    shell:
        "biaslab debiasing figures results/debiasing/{wildcards.embedding} > {log} 2>&1"


rule debiasing:
    input:
        # without any embedding, nothing
        rules.write_debiasing_tables.output if DEBIASED.embeddings else [],
        expand(rules.draw_debiasing_figures.output, embedding=DEBIASED.embeddings),
    message:
        "all tables and figures of debiasing word embeddings"
