rule select_ppmi_sets:
    input:
        first_ppmi_scan,
    output:
        "results/origins/{setup}/ppmi/perturbation_sets.parquet",
    log:
        "results/logs/{setup}/select_ppmi_sets.log",
    benchmark:
        "results/benchmarks/{setup}/select_ppmi_sets.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=30,
    params:
        sizes=ppmi_sizes,
        code=CODE["select_ppmi_sets"],
    message:
        "{wildcards.setup}: select the documents that the PPMI baseline finds"
    shell:
        "biaslab origins select-ppmi-sets {input} {params.sizes} --out {output} > {log} 2>&1"


rule measure_sets_by_ppmi:
    input:
        embeddings=ppmi_embeddings,
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=word_sets,
    output:
        "results/origins/{setup}/ppmi/observed.tsv",
    log:
        "results/logs/{setup}/measure_sets_by_ppmi.log",
    benchmark:
        "results/benchmarks/{setup}/measure_sets_by_ppmi.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=120,
    params:
        weats=weat_options,
        code=CODE["measure_bias"],
    message:
        "{wildcards.setup}: measure the bias without the documents that the PPMI baseline finds"
    shell:
        "biaslab origins measure-sets {input.embeddings} --vocabulary {input.vocabulary} {params.weats}"
        " --out {output} > {log} 2>&1"


rule select_documents:
    input:
        first_differential_bias,
    output:
        "results/origins/{setup}/single_documents/sets.parquet",
    log:
        "results/logs/{setup}/select_documents.log",
    benchmark:
        "results/benchmarks/{setup}/select_documents.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=30,
    params:
        options=single_options,
        seed=config["seed"],
        code=CODE["select_documents"],
    message:
        "{wildcards.setup}: select single documents"
    shell:
        "biaslab origins select-documents {input} {params.options} --seed {params.seed} --out {output} > {log} 2>&1"


rule measure_documents:
    input:
        embeddings=single_embeddings,
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=word_sets,
    output:
        "results/origins/{setup}/single_documents/observed.tsv",
    log:
        "results/logs/{setup}/measure_documents.log",
    benchmark:
        "results/benchmarks/{setup}/measure_documents.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=120,
    params:
        weats=weat_options,
        code=CODE["measure_bias"],
    message:
        "{wildcards.setup}: measure the bias without single documents"
    shell:
        "biaslab origins measure-sets {input.embeddings} --vocabulary {input.vocabulary} {params.weats}"
        " --out {output} > {log} 2>&1"


rule compare_documents:
    input:
        sets="results/origins/{setup}/single_documents/sets.parquet",
        baseline="results/origins/{setup}/baseline.tsv",
        observed="results/origins/{setup}/single_documents/observed.tsv",
        differential_bias=first_differential_bias,
    output:
        documents="results/origins/{setup}/single_documents/documents.tsv",
        correlation="results/origins/{setup}/single_documents/correlation.tsv",
    log:
        "results/logs/{setup}/compare_documents.log",
    benchmark:
        "results/benchmarks/{setup}/compare_documents.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=30,
    params:
        seed=config["seed"],
        code=CODE["select_documents"],
    message:
        "{wildcards.setup}: compare the estimates for single documents with paired retraining"
    shell:
        "biaslab origins compare-documents --sets {input.sets} --baseline {input.baseline}"
        " --observed {input.observed} --differential-bias {input.differential_bias} --seed {params.seed}"
        " --documents {output.documents} --correlation {output.correlation} > {log} 2>&1"
