"""Page "Audit": which learners keep the epsilon they claim, and the pair of data sets that shows which do not."""

from dpviz.app import audit_ask, audit_results, audit_screen, audit_why, leaf_screen, parts

parts.page("Audit", "Do private learners keep the privacy they promise, and how do we know?")

audit_results.take_finished()
what = audit_screen.known()
audit_screen.lead(what)
search = audit_ask.ask(what)

result = audit_screen.verdict(search, what)
if result is not None:
    audit_why.why(result)
    audit_screen.worst_pair(result)
    audit_screen.everything(search, what)
audit_screen.rules(what)
leaf_screen.smooth_or_global()

audit_screen.meaning()
