"""Commands of ``biaslab cache``."""

import typer

app = typer.Typer(help="Show or delete the cache of compiled kernels.", invoke_without_command=True)


@app.callback()
def show(context: typer.Context) -> None:
    """Print the folder of the compiled kernels, their number and their size."""
    from biaslab.core.kernel_cache import kernel_folder, usage

    if context.invoked_subcommand is None:
        folder = kernel_folder()
        if folder is None:
            typer.echo("no cache: neither a home folder nor BIASLAB_CACHE is set")
        else:
            n_kernels, size = usage(folder)
            typer.echo(f"{folder}\t{n_kernels} kernels\t{size / 1e6:.1f} MB")


@app.command("clear")
def clear_cache() -> None:
    """Delete all compiled kernels; the next runs compile what they need again."""
    from biaslab.core.kernel_cache import clear, kernel_folder

    folder = kernel_folder()
    if folder is not None:
        clear(folder)
