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
