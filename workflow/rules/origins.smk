from biaslab.origins.report.figures import figure_items
from biaslab.origins.report.tables import table_items

WEATS = {name: setup["bias"]["weats"] for name, setup in SETUPS.items()}
TABLES = table_items(WEATS)
FIGURES = figure_items(WEATS)
PAGES = [
    f"results/origins/{setup}/context_{weat}_{kind}.html"
    for setup, weats in WEATS.items()
    for weat in weats
    for kind in grid.TARGETED_KINDS
]


rule measure_baseline:
    input:
        embeddings=baseline_embeddings,
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=word_sets,
    output:
        "results/origins/{setup}/baseline.tsv",
    log:
        "results/logs/{setup}/measure_baseline.log",
    benchmark:
        "results/benchmarks/{setup}/measure_baseline.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(2000),
        runtime=60,
    params:
        weats=weat_options,
        permutations=lookup(dpath="setups/{setup}/bias/permutations", within=config),
        seed=config["seed"],
        code=CODE["measure_bias"],
    message:
        "{wildcards.setup}: measure the baselines' bias"
    shell:
        "biaslab origins measure-baseline {input.embeddings} --vocabulary {input.vocabulary} {params.weats}"
        " --permutations {params.permutations} --seed {params.seed} --out {output} > {log} 2>&1"


rule estimate_differential_bias:
    input:
        embeddings=baseline_embeddings,
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        documents="results/origins/{setup}/documents.parquet",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=word_set,
    output:
        "results/origins/{setup}/differential_bias/{weat}.parquet",
    log:
        "results/logs/{setup}/estimate_differential_bias/{weat}.log",
    benchmark:
        "results/benchmarks/{setup}/estimate_differential_bias/{weat}.tsv"
    conda:
        ENVIRONMENT
    threads: 8
    resources:
        mem_mb=memory(4000),
        runtime=480,
    params:
        weats=weat_options,
        options=influence_options,
        code=CODE["estimate_differential_bias"],
    message:
        "{wildcards.setup}: estimate every document's differential bias of {wildcards.weat}"
    shell:
        "biaslab origins differential-bias {input.embeddings} --cooccurrence {input.cooccurrence}"
        " --corpus {input.corpus} --documents {input.documents} --vocabulary {input.vocabulary} {params.weats}"
        " {params.options} --threads {threads} --out {output} > {log} 2>&1"


rule estimate_bias_gradient:
    input:
        embeddings=baseline_embeddings,
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=word_set,
    output:
        "results/origins/{setup}/bias_gradient/{weat}.parquet",
    log:
        "results/logs/{setup}/estimate_bias_gradient/{weat}.log",
    benchmark:
        "results/benchmarks/{setup}/estimate_bias_gradient/{weat}.tsv"
    conda:
        ENVIRONMENT
    threads: 2
    resources:
        mem_mb=memory(4000),
        runtime=60,
    params:
        weats=weat_options,
        options=influence_options,
        code=CODE["estimate_bias_gradient"],
    message:
        "{wildcards.setup}: estimate every co-occurrence's effect on {wildcards.weat}"
    shell:
        "biaslab origins bias-gradient {input.embeddings} --cooccurrence {input.cooccurrence}"
        " --corpus {input.corpus} --vocabulary {input.vocabulary} {params.weats} {params.options}"
        " --threads {threads} --out {output} > {log} 2>&1"


rule measure_seed_stability:
    input:
        differential_biases,
    output:
        "results/origins/{setup}/seed_stability.tsv",
    log:
        "results/logs/{setup}/measure_seed_stability.log",
    benchmark:
        "results/benchmarks/{setup}/measure_seed_stability.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=30,
    params:
        seed=config["seed"],
        code=CODE["measure_seed_stability"],
    message:
        "{wildcards.setup}: measure how far the ranking of documents depends on the seeds"
    shell:
        "biaslab origins seed-stability {input} --seed {params.seed} --out {output} > {log} 2>&1"


rule highlight_documents:
    input:
        "results/origins/{setup}/bias_gradient/{weat}.parquet",
        "results/origins/{setup}/differential_bias/{weat}.parquet",
        "results/origins/{setup}/baseline.tsv",
        "results/origins/{setup}/cooccurrence.npz",
        "results/origins/{setup}/corpus.npz",
        "results/origins/{setup}/documents.parquet",
        "results/origins/{setup}/vocabulary.tsv",
        word_sets=word_set,
    output:
        **{
            kind: report(
                f"results/origins/{{setup}}/context_{{weat}}_{kind}.html",
                category=PAPERS["origins"],
                subcategory="Documents",
                caption="../report/context.rst",
                labels={"item": f"Removal: {kind}", "setup": "{setup}", "weat": "{weat}"},
            )
            for kind in grid.TARGETED_KINDS
        },
    log:
        "results/logs/{setup}/highlight_documents/{weat}.log",
    benchmark:
        "results/benchmarks/{setup}/highlight_documents/{weat}.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=30,
    params:
        weats=weat_options,
        code=CODE["highlight_documents"],
    message:
        "{wildcards.setup}: highlight the documents with the most influence on {wildcards.weat}"
    shell:
        "biaslab origins highlight --setup {wildcards.setup} {params.weats} --increase {output.increase}"
        " --decrease {output.decrease} > {log} 2>&1"


rule select_sets:
    input:
        differential_biases,
    output:
        "results/origins/{setup}/perturbation_sets.parquet",
    log:
        "results/logs/{setup}/select_sets.log",
    benchmark:
        "results/benchmarks/{setup}/select_sets.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=30,
    params:
        options=selection_options,
        seed=config["seed"],
        code=CODE["select_sets"],
    message:
        "{wildcards.setup}: select the documents of every perturbation set"
    shell:
        "biaslab origins select-sets {input} {params.options} --seed {params.seed} --out {output} > {log} 2>&1"


rule predict_sets:
    input:
        embeddings=baseline_embeddings,
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        sets="results/origins/{setup}/perturbation_sets.parquet",
        word_sets=word_sets,
    output:
        "results/origins/{setup}/predictions.tsv",
    log:
        "results/logs/{setup}/predict_sets.log",
    benchmark:
        "results/benchmarks/{setup}/predict_sets.tsv"
    conda:
        ENVIRONMENT
    threads: 8
    resources:
        mem_mb=memory(4000),
        runtime=240,
    params:
        weats=weat_options,
        options=influence_options,
        code=CODE["estimate_differential_bias"],
    message:
        "{wildcards.setup}: predict the bias after the removal of every set"
    shell:
        "biaslab origins predict-sets {input.embeddings} --cooccurrence {input.cooccurrence}"
        " --corpus {input.corpus} --vocabulary {input.vocabulary}"
        " --sets {input.sets} {params.weats} {params.options} --threads {threads}"
        " --out {output} > {log} 2>&1"


rule measure_sets:
    input:
        embeddings=retrained_embeddings,
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=word_sets,
    output:
        "results/origins/{setup}/observed.tsv",
    log:
        "results/logs/{setup}/measure_sets.log",
    benchmark:
        "results/benchmarks/{setup}/measure_sets.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=120,
    params:
        weats=weat_options,
        code=CODE["measure_bias"],
    message:
        "{wildcards.setup}: measure the bias after every removal"
    shell:
        "biaslab origins measure-sets {input.embeddings} --vocabulary {input.vocabulary} {params.weats}"
        " --out {output} > {log} 2>&1"


rule evaluate_predictions:
    input:
        baseline="results/origins/{setup}/baseline.tsv",
        predictions="results/origins/{setup}/predictions.tsv",
        observed="results/origins/{setup}/observed.tsv",
    output:
        perturbations="results/origins/{setup}/perturbations.tsv",
        correlation="results/origins/{setup}/correlation.tsv",
    log:
        "results/logs/{setup}/evaluate_predictions.log",
    benchmark:
        "results/benchmarks/{setup}/evaluate_predictions.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=30,
    params:
        seed=config["seed"],
        code=CODE["evaluate_predictions"],
    message:
        "{wildcards.setup}: compare predicted with observed bias"
    shell:
        "biaslab origins evaluate --baseline {input.baseline} --predictions {input.predictions}"
        " --observed {input.observed} --seed {params.seed}"
        " --perturbations {output.perturbations} --correlation {output.correlation} > {log} 2>&1"


rule scan_ppmi:
    input:
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        corpus="results/origins/{setup}/corpus.npz",
        documents="results/origins/{setup}/documents.parquet",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=word_set,
    output:
        "results/origins/{setup}/ppmi/{weat}.parquet",
    log:
        "results/logs/{setup}/scan_ppmi/{weat}.log",
    benchmark:
        "results/benchmarks/{setup}/scan_ppmi/{weat}.tsv"
    conda:
        ENVIRONMENT
    threads: 8
    resources:
        mem_mb=memory(2000),
        runtime=240,
    params:
        weats=weat_options,
        code=CODE["scan_ppmi"],
    message:
        "{wildcards.setup}: measure every document's differential bias of {wildcards.weat} by PPMI"
    shell:
        "biaslab origins ppmi-scan --cooccurrence {input.cooccurrence} --corpus {input.corpus}"
        " --documents {input.documents} --vocabulary {input.vocabulary} {params.weats} --threads {threads}"
        " --out {output} > {log} 2>&1"


rule compare_ppmi:
    input:
        embeddings=baseline_embeddings,
        cooccurrence="results/origins/{setup}/cooccurrence.npz",
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=word_sets,
    output:
        baseline="results/origins/{setup}/ppmi/baseline.tsv",
        word_sets="results/origins/{setup}/ppmi/word_sets.tsv",
        correlation="results/origins/{setup}/ppmi/correlation.tsv",
    log:
        "results/logs/{setup}/compare_ppmi.log",
    benchmark:
        "results/benchmarks/{setup}/compare_ppmi.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(2000),
        runtime=120,
    params:
        weats=weat_options,
        seed=config["seed"],
        code=CODE["compare_ppmi"],
    message:
        "{wildcards.setup}: compare the bias in GloVe with that in the PPMI representation"
    shell:
        "biaslab origins compare-ppmi {input.embeddings} --cooccurrence {input.cooccurrence}"
        " --vocabulary {input.vocabulary} {params.weats} --seed {params.seed} --baseline {output.baseline}"
        " --word-sets {output.word_sets} --correlation {output.correlation} > {log} 2>&1"


rule project_words:
    input:
        embeddings=axis_embeddings,
        vocabulary="results/origins/{setup}/vocabulary.tsv",
        word_sets=word_sets,
    output:
        projections="results/origins/{setup}/projections.tsv",
        frequency="results/origins/{setup}/axis_frequency.tsv",
    log:
        "results/logs/{setup}/project_words.log",
    benchmark:
        "results/benchmarks/{setup}/project_words.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(2000),
        runtime=60,
    params:
        weats=weat_options,
        seed=config["seed"],
        code=CODE["project_words"],
    message:
        "{wildcards.setup}: project the target words onto the bias axis"
    shell:
        "biaslab origins project-words {input.embeddings} --vocabulary {input.vocabulary} {params.weats}"
        " --seed {params.seed} --projections {output.projections} --frequency {output.frequency} > {log} 2>&1"


rule write_tables:
    input:
        measured,
        config="results/config.json",
        word_sets=every_word_set,
    output:
        report_items(TABLES, "Tables", ".tsv"),
        expand("results/origins/{item.stem}{suffix}", item=TABLES, suffix=[".md", ".tex"]),
    log:
        "results/logs/write_tables.log",
    benchmark:
        "results/benchmarks/write_tables.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(2000),
        runtime=30,
    params:
        setups=setup_options,
        weats=weat_options,
        code=CODE["write_tables"],
    message:
        "write the tables"
    shell:
        "biaslab origins tables {params.setups} {params.weats} --config {input.config} --out-dir results/origins"
        " > {log} 2>&1"


rule draw_figures:
    input:
        measured,
        config="results/config.json",
        word_sets=every_word_set,
    output:
        report_items(FIGURES, "Figures", ".svg"),
        expand(
            "results/origins/{item.stem}{suffix}",
            item=FIGURES,
            suffix=[".pdf", ".png", ".tsv"],
        ),
    log:
        "results/logs/draw_figures.log",
    benchmark:
        "results/benchmarks/draw_figures.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(2000),
        runtime=30,
    params:
        setups=setup_options,
        weats=weat_options,
        code=CODE["draw_figures"],
    message:
        "draw the figures"
    shell:
        "biaslab origins figures {params.setups} {params.weats} --config {input.config} --out-dir results/origins"
        " > {log} 2>&1"


rule origins:
    input:
        rules.write_tables.output,
        rules.draw_figures.output,
        PAGES,
    message:
        "all tables and figures of the origins of bias"
