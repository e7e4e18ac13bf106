# A shell command is put together when it runs: it must not name the variables of the loops.
for area in filter(PLAN.has, PLAN.areas):

    for parts, made in PLAN.reports(area).items():

        rule:
            name:
                "_".join(["report", area.name, *parts])
            input:
                PLAN.report_inputs(area, made),
            output:
                shown(area, made),
                [f"results/{area.name}/{file}" for one in made for file in one.files[1:]],
            log:
                f"results/logs/{area.name}/{'_'.join(['report', *parts])}.log",
            localrule: True
            resources:
                mem_mb=LIMITS.memory(2000),
                runtime=LIMITS.minutes(60),
            params:
                step=f"{area.command}.report",
                given=given(
                    area=area.name,
                    units=PLAN.described(area, made),
                    results="results/",
                    only=[one.stem for one in made],
                ),
            message:
                f"write the tables and figures of {area.name.replace('_', ' ')}"
            shell:
                step("{params.step}")
