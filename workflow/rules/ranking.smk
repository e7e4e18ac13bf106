from biaslab.ranking import area as ranking_plan


rule simulate_ranking:
    output:
        measures="results/ranking/simulation.tsv",
        feasibility="results/ranking/feasibility.tsv",
        differences="results/ranking/differences.tsv",
    log:
        "results/logs/ranking/simulate_ranking.log",
    benchmark:
        "results/benchmarks/ranking/simulate_ranking.tsv"
    conda:
        ENVIRONMENT
    threads: 8
    resources:
        mem_mb=memory(2000),
        runtime=60,
    params:
        options=configuration.command_options(config["ranking"]),
        seed=config["seed"],
        code=CODE["simulate_ranking"],
    message:
        "simulate fairness-aware ranking"
    shell:
        "biaslab ranking simulate {params.options} --seed {params.seed} --threads {threads}"
        " --measures {output.measures} --feasibility {output.feasibility} --differences {output.differences}"
        " > {log} 2>&1"


rule find_counterexamples:
    output:
        summary="results/ranking/enumeration.tsv",
        found="results/ranking/counterexamples.tsv",
    log:
        "results/logs/ranking/find_counterexamples.log",
    benchmark:
        "results/benchmarks/ranking/find_counterexamples.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=30,
    params:
        code=CODE["find_counterexamples"],
    message:
        "search all small distributions for infeasible rankings"
    shell:
        "biaslab ranking counterexamples --summary {output.summary} --out {output.found} > {log} 2>&1"


rule write_ranking_tables:
    input:
        rules.simulate_ranking.output,
        rules.find_counterexamples.output,
        claims=ROOT / "workflow/resources/claims/ranking.tsv",
    output:
        report_items(ranking_plan.TABLES, "Tables", ".tsv", "ranking"),
        expand(
            "results/ranking/{item.stem}{suffix}",
            item=ranking_plan.TABLES,
            suffix=[".md", ".tex"],
        ),
    log:
        "results/logs/ranking/write_ranking_tables.log",
    benchmark:
        "results/benchmarks/ranking/write_ranking_tables.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=10,
    params:
        code=CODE["write_ranking_tables"],
    message:
        "write the tables of the ranking"
    shell:
        "biaslab ranking tables results/ranking --claims {input.claims:q} > {log} 2>&1"


rule draw_ranking_figures:
    input:
        rules.simulate_ranking.output,
    output:
        report_items(ranking_plan.FIGURES, "Figures", ".svg", "ranking"),
        expand(
            "results/ranking/{item.stem}{suffix}",
            item=ranking_plan.FIGURES,
            suffix=[".pdf", ".png", ".tsv"],
        ),
    log:
        "results/logs/ranking/draw_ranking_figures.log",
    benchmark:
        "results/benchmarks/ranking/draw_ranking_figures.tsv"
    conda:
        ENVIRONMENT
    resources:
        mem_mb=memory(1000),
        runtime=10,
    params:
        code=CODE["draw_ranking_figures"],
    message:
        "draw the figures of the ranking"
    shell:
        "biaslab ranking figures results/ranking > {log} 2>&1"


rule ranking:
    input:
        rules.simulate_ranking.output,
        rules.find_counterexamples.output,
        rules.write_ranking_tables.output,
        rules.draw_ranking_figures.output,
    message:
        "all tables and figures of fairness-aware ranking"
