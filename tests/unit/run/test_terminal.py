from io import StringIO

from biaslab.run.commands.terminal import plain_console, plain_table


def printed(table):
    text = StringIO()
    plain_console(file=text, width=40).print(table)
    return text.getvalue()


def test_words_are_flush_left_and_numbers_right():
    table = plain_table(["Word", "Count"], [("she", "1"), ("[b]he[/b]", "234567")], numbers=(1,))
    assert [line.rstrip() for line in printed(table).splitlines()] == [
        "Word        Count",
        "she             1",
        "[b]he[/b]  234567",
    ]
