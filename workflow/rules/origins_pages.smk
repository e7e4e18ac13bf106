from biaslab.origins.sets import EFFECTS


rule highlight_documents:
    input:
        "results/origins/{setup}/differential_bias/{weat}.parquet",
        "results/origins/{setup}/baseline.tsv",
        "results/origins/{setup}/cooccurrence.npz",
        "results/origins/{setup}/corpus.npz",
        "results/origins/{setup}/documents.parquet",
        "results/origins/{setup}/vocabulary.tsv",
        gradients="results/origins/{setup}/bias_gradient/documents/{weat}.tsv",
        word_sets=ORIGINS.word_sets,
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
    resources:
        mem_mb=LIMITS.memory(1000),
        runtime=LIMITS.minutes(30),
    params:
        given=given("setup", folder="results/origins/{setup}"),
    message:
        "{wildcards.setup}: highlight the documents with the most influence on {wildcards.weat}"
    shell:
        step("origins.highlight-documents")
