# What debiasing does to the ranking of documents by their influence on a bias: of the setups that both areas run.
DEBIASED_SETUPS = [name for name in DEBIASED.embeddings if name in SETUPS]
STAGES = ["hard", *[f"soft-{penalty:g}" for penalty in config["debiasing"]["document_lambdas"]]]
TRANSFORMS = [f"results/debiasing/{{setup}}/transforms/{stage}.npz" for stage in STAGES]


wildcard_constraints:
    stage="|".join(map(re.escape, STAGES)),


rule make_debiasing_transform:
    input:
        WORD_LISTS.values(),
        embeddings=baseline_embeddings,
        vocabulary="results/origins/{setup}/vocabulary.tsv",
    output:
        "results/debiasing/{setup}/transforms/{stage}.npz",
    log:
        "results/logs/debiasing/{setup}/make_debiasing_transform/{stage}.log",
    benchmark:
        "results/benchmarks/debiasing/{setup}/make_debiasing_transform/{stage}.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(2000),
        runtime=60,
    params:
        options=debiasing_options("components"),
        stage=transform_options,
        code=CODE["make_debiasing_transform"],
    message:
        "{wildcards.setup}: find what debiasing ({wildcards.stage}) does to every word"
    shell:
        "biaslab debiasing transform {input.embeddings} --vocabulary {input.vocabulary} {params.options}"
        " {params.stage} --out {output} > {log} 2>&1"


rule estimate_debiased_differential_bias:
    input:
        embeddings=baseline_embeddings,
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        documents="results/origins/{setup}/documents.parquet",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=word_set,
        transforms=TRANSFORMS,
    output:
        "results/debiasing/{setup}/differential_bias/{weat}.parquet",
    log:
        "results/logs/debiasing/{setup}/estimate_debiased_differential_bias/{weat}.log",
    benchmark:
        "results/benchmarks/debiasing/{setup}/estimate_debiased_differential_bias/{weat}.tsv"
    conda:
        ENVIRONMENT
    threads: 8
    resources:
        mem_mb=memory(4000),
        runtime=960,
    params:
        weats=weat_options,
        options=influence_options,
        transforms=transforms_given,
        code=CODE["estimate_differential_bias"],
    message:
        "{wildcards.setup}: estimate every document's differential bias of {wildcards.weat} after debiasing"
    shell:
        "biaslab origins differential-bias {input.embeddings} --cooccurrence {input.cooccurrence}"
        " --corpus {input.corpus} --documents {input.documents} --vocabulary {input.vocabulary} {params.weats}"
        " {params.options} {params.transforms} --threads {threads} --out {output} > {log} 2>&1"


rule compare_document_rankings:
    input:
        rankings_of_documents,
        embeddings=baseline_embeddings,
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=word_sets,
        transforms=TRANSFORMS,
    output:
        "results/debiasing/{setup}/document_ranking.tsv",
    log:
        "results/logs/debiasing/{setup}/compare_document_rankings.log",
    benchmark:
        "results/benchmarks/debiasing/{setup}/compare_document_rankings.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(2000),
        runtime=30,
    params:
        weats=weat_options,
        transforms=transforms_given,
        code=CODE["compare_document_rankings"],
    message:
        "{wildcards.setup}: compare the rankings of documents before and after debiasing"
    shell:
        "biaslab debiasing compare-rankings {input.embeddings} --vocabulary {input.vocabulary} {params.weats}"
        " --before results/origins/{wildcards.setup}/differential_bias"
        " --after results/debiasing/{wildcards.setup}/differential_bias {params.transforms} --out {output}"
        " > {log} 2>&1"


rule report_document_rankings:
    input:
        "results/debiasing/{setup}/document_ranking.tsv",
    output:
        survival_report("Tables", ".tsv"),
        expand("results/debiasing/{{setup}}/tables/document_ranking{suffix}", suffix=[".md", ".tex"]),
        survival_report("Figures", ".svg"),
        expand(
            "results/debiasing/{{setup}}/figures/document_ranking{suffix}", suffix=[".pdf", ".png", ".tsv"]
        ),
    log:
        "results/logs/debiasing/{setup}/report_document_rankings.log",
    benchmark:
        "results/benchmarks/debiasing/{setup}/report_document_rankings.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=10,
    params:
        code=CODE["report_document_rankings"],
    message:
        "{wildcards.setup}: tabulate and draw how much of the ranking survives debiasing"
    shell:
        "biaslab debiasing report-rankings {input} --name {wildcards.setup}"
        " --table results/debiasing/{wildcards.setup}/tables/document_ranking"
        " --figure results/debiasing/{wildcards.setup}/figures/document_ranking"
        " > {log} 2>&1"


rule debiasing_origins:
    input:
        expand(rules.report_document_rankings.output, setup=DEBIASED_SETUPS),
    message:
        "how much of the rankings of documents survives debiasing"
