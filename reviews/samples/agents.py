"""The sample agents as data: what an admin would have typed in.

The first line of each prompt is how the demo model knows whom it plays.
"""

from __future__ import annotations

from typing import Any

LIMITS: dict[str, Any] = {
    "steps": 25,
    "seconds": 600,
    "money": "0.50",
    "tokens": 100_000,
}
READS: dict[str, Any] = {
    "query_database": {"policy": "auto"},
    "update_plan": {"policy": "auto"},
}
REGIONS = ["North America", "Europe", "Asia Pacific"]
QUARTERS = ["Q2 2024", "Q3 2024", "Q4 2024"]

QUARTERLY_METRICS: dict[str, Any] = {
    "slug": "quarterly-metrics",
    "name": "Quarterly metrics",
    "description": "Reads a quarter's revenue, computes growth, flags what is out of"
    " the ordinary, and mails a summary.",
    "prompt": "You are the quarterly metrics agent.\n\n"
    "You read the table monthly_revenue of the company's database with query_database:"
    " one row for each month (as 2024-07) and region, with the revenue in US dollars."
    " If a query fails, read the error and correct the query.\n\n"
    "Work out every growth rate with calculate; never compute in your head. Use only"
    " figures that a tool gave you. Flag each month that grew more than the limit in"
    " the task as anomalous.\n\n"
    "Write the summary in markdown, with a table of months, revenue, growth and flag,"
    " and send it once with send_email. If a reviewer rejects the mail or gives"
    " guidance, take it in. When the mail is out, answer with the summary, say to whom"
    " it was sent, and repeat what reviewers told you.",
    "grants": {
        **READS,
        "calculate": {"policy": "auto"},
        "send_email": {"policy": "ask_below", "threshold": 0.80},
    },
    "review_when": ["a month grows more than 30 %"],
    "input_schema": {
        "type": "object",
        "properties": {
            "quarter": {
                "type": "string",
                "title": "Quarter",
                "enum": QUARTERS,
                "default": "Q3 2024",
            },
            "region": {
                "type": "string",
                "title": "Region",
                "enum": REGIONS,
                "default": "North America",
            },
            "limit_percent": {
                "type": "number",
                "title": "Flag growth above (%)",
                "description": "Month over month.",
                "minimum": 0,
                "maximum": 1000,
                "default": 30,
            },
            "recipient": {
                "type": "string",
                "title": "Send the summary to",
                "format": "email",
                "maxLength": 254,
                "default": "analytics@company.com",
            },
        },
        "required": ["quarter", "region", "limit_percent", "recipient"],
        "additionalProperties": False,
    },
    "task_template": "Query monthly_revenue for {quarter}, region {region}. Compute"
    " month-over-month growth and flag any month above {limit_percent} % as"
    " anomalous. Write a summary in markdown and e-mail it to {recipient} with the"
    ' subject "{quarter} Revenue Summary".',
}

VENDOR_QUESTION: dict[str, Any] = {
    "slug": "vendor-question",
    "name": "Vendor question",
    "description": "Answers a question about a contract, and asks which one is meant"
    " if a vendor has several.",
    "prompt": "You are the vendor question agent.\n\n"
    "You read the table contracts (id, vendor, title, signed, ends, notice_days,"
    " yearly_value) with query_database. If a vendor has more than one contract, ask"
    " with ask_human which one is meant, giving their titles as options; never guess."
    " Answer from that contract alone, in a few lines of markdown.",
    "grants": {**READS, "ask_human": {"policy": "auto"}},
    "submitter_answers": True,
    "review_when": [],
    "input_schema": {
        "type": "object",
        "properties": {
            "vendor": {
                "type": "string",
                "title": "Vendor",
                "enum": ["Northwind Analytics", "Harbour Hosting"],
                "default": "Northwind Analytics",
            },
            "question": {
                "type": "string",
                "title": "What do you want to know?",
                "minLength": 1,
                "maxLength": 500,
                "default": "Until when does it run, and with what notice can we end it?",
            },
        },
        "required": ["vendor", "question"],
        "additionalProperties": False,
    },
    "task_template": "Vendor: {vendor}\nQuestion: {question}",
}

FLAKY_STATUS: dict[str, Any] = {
    "slug": "flaky-status",
    "name": "Service status",
    "description": "Says how a service is. With the demo model its endpoint is down"
    " for a while on the way, and the run gets through.",
    "prompt": "You are the service status agent.\n\n"
    "You read the table service_checks (service, checked_at, status, latency_ms) with"
    " query_database and say in a few lines of markdown how the service is by its last"
    " check, with a table of the checks.",
    "grants": READS,
    "review_when": [],
    "input_schema": {
        "type": "object",
        "properties": {
            "service": {
                "type": "string",
                "title": "Service",
                "enum": ["billing", "search"],
                "default": "billing",
            }
        },
        "required": ["service"],
        "additionalProperties": False,
    },
    "task_template": "How is the service {service}, and since when?",
}

PAYMENT_AUDIT: dict[str, Any] = {
    "slug": "payment-audit",
    "name": "Payment audit",
    "description": "Looks through a month's payments and hands over to a person what"
    " looks wrong.",
    "prompt": "You are the payment audit agent.\n\n"
    "You read the table payments (id, paid_on, payee, invoice, amount) with"
    " query_database and look for invoices that were paid more than once. If there is"
    " one, call escalate with what you found and why you do not act yourself. Then"
    " report in a few lines of markdown, and repeat what the person decided.",
    "grants": {**READS, "escalate": {"policy": "auto"}},
    "review_when": [],
    "input_schema": {
        "type": "object",
        "properties": {
            "month": {
                "type": "string",
                "title": "Month",
                "enum": ["2024-08", "2024-09"],
                "default": "2024-09",
            }
        },
        "required": ["month"],
        "additionalProperties": False,
    },
    "task_template": "Look through the payments of {month}.",
}

AGENTS = (QUARTERLY_METRICS, VENDOR_QUESTION, FLAKY_STATUS, PAYMENT_AUDIT)
