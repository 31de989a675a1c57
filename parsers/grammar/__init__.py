"""What a model may write, as xgrammar structural tags (R42): plain dicts, for which xgrammar need not be installed.

:mod:`.formats` spells xgrammar's formats, :mod:`.call_syntax` is what a dialect declares and what becomes of it,
:mod:`.reasoning` and :mod:`.harmony` are the formats around calls, and :mod:`.response_format` puts one together for a
request.
"""
