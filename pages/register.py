"""Page "Register": what was released of which rows, under which caps, and what is left. Needs no rows."""

from dpviz.app import parts
from dpviz.app.publish import account

parts.page("Register", "What has been released of which rows, under which cap, who raised it, and what is left?")

book = account.account_screen()
if book is not None:
    account.papers_screen(book)
