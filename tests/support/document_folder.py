"""A folder of documents as three site generators, a word processor and a printer write them."""

from __future__ import annotations

import io
import zipfile
from itertools import cycle, product
from pathlib import Path

JEKYLL = """---
title: Return an order
permalink: /help/returns
date: 2026-03-01
tags: [orders, refunds]
product: shop
---
# Returning

Send it back within **30 days**.
"""
HUGO = """+++
title = "Pay by invoice"
lastmod = 2026-05-02T10:00:00Z
version = "3"
+++
Choose *invoice* at the checkout.
"""
DOCUSAURUS = """---
description: "How to change the size of a text."
---

Change a size
=============

Open the settings.
"""
PAGE = """<!doctype html><html><head><title>Delivery times</title>
<link rel="canonical" href="https://shop.example/help/delivery">
<meta name="description" content="How long it takes."><script>var menu = "scripted"</script></head>
<body><nav><a href="/">Home</a> <a href="/menu">Menuword</a></nav>
<main><h1>Delivery times</h1><p>Letters take <b>two</b> days.</p>
<table><tr><td>Parcel</td><td>3</td></tr></table>
<aside>Asideword</aside></main><footer>Footerword</footer></body></html>
"""

SUBJECTS = (
    "tea milk bread wheels clouds copper glass violins maps bees lamps ropes boats seeds wool clocks "
    "bricks drums paper"
).split()
VERBS = "grow store repair paint weigh clean sell lend heat cool sort ship test mend count".split()
TEXT = """## Before you {verb} {subject}

People {verb} **{subject}** in a [dry room](/rooms).

| Season | Days |
|---|---|
| Winter | 4 |

> [!NOTE]
> Ask somebody who has {subject}.
"""
FORMS = {
    "md": "---\ntitle: {title}\ndate: 2026-03-01\ntags: [{verb}]\nproduct: {subject}\n---\n" + TEXT,
    "mdx": "---\ndescription: How to {verb}.\n---\n\n# {title}\n\n" + TEXT,
    "markdown": '+++\ntitle = "{title}"\nlastmod = 2026-05-02T10:00:00Z\n+++\n' + TEXT,
    "html": "<!doctype html><title>{title}</title><body><nav><a href=/menu>Menuword</a></nav><main>"
    "<h1>{title}</h1><p>People {verb} <b>{subject}</b> in a dry room.</p><ul><li>in winter</li></ul>"
    "</main><footer>Footerword</footer></body>",
    "rst": "{title}\n====================\n\nPeople {verb} *{subject}* in a dry room.\n",
    "txt": "People {verb} {subject} in a dry room.\n",
}
"""The ending of a file → what such a file has about a subject and a verb."""


def make_pdf(text: str) -> bytes:
    """Return a PDF of one page with this ASCII text on one line."""
    stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R"
        b" /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    content, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(content))
        content += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = (
        b"xref\n0 6\n0000000000 65535 f \n%strailer\n<< /Root 1 0 R /Size 6 >>\nstartxref\n%d\n%%%%EOF\n"
    )
    return content + trailer % (table, len(content))


def make_docx(heading: str, text: str) -> bytes:
    """Return a Word file with a heading and a paragraph."""
    space = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    style = '<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>'
    paragraphs = "".join(
        f"<w:p>{properties}<w:r><w:t>{words}</w:t></w:r></w:p>"
        for properties, words in ((style, heading), ("", text))
    )
    package = "http://schemas.openxmlformats.org/package/2006"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
        f'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override '
        f'PartName="/word/document.xml" ContentType="{main}"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f"<w:document {space}><w:body>{paragraphs}</w:body></w:document>",
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return file.getvalue()


def write_documents(folder: Path) -> Path:
    """Write a folder with eight documents and with files that hold none; return the folder."""
    files: dict[str, str | bytes] = {
        "orders/returns.md": JEKYLL,
        "orders/pay-by-invoice.md": HUGO,
        "app/text_size.mdx": DOCUSAURUS,
        "app/_index.md": "Everything about the app.\n",
        "delivery.html": PAGE,
        "terms.rst": "Terms of use\n============\n\nBe kind.\n",
        "notes/opening hours.txt": "Monday to Friday\n",
        "print/warranty.pdf": make_pdf("The warranty ends after two years."),
        "print/contract.docx": make_docx("Contract", "It runs for a year."),
        "img/logo.png": b"\x89PNG\r\n",
        "site.js": "var page;\n",
        ".git/config": "[core]\n",
        "empty.md": "",
        "data.bin": b"\0\1",
        "broken.txt": b"ab\0cd",
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def write_site(folder: Path) -> Path:
    """Write a folder of 300 files, 294 of them documents, most in a folder of their subject; return it."""
    write_documents(folder)
    for (subject, verb), ending in zip(product(SUBJECTS, VERBS), cycle(FORMS), strict=False):
        path = folder / "guides" / subject / f"{verb}-{subject}.{ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        title = f"{verb.title()} {subject}"
        path.write_text(FORMS[ending].format(title=title, subject=subject, verb=verb), encoding="utf-8")
    return folder
