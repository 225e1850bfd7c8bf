"""Asks as the official client for Python does: python_client.py BASE_URL. Prints what it got, as JSON."""

import json
import sys

from openai import OpenAI

client = OpenAI(api_key="none", base_url=sys.argv[1], max_retries=0)
tools = [
    {
        "type": "function",
        "name": "look_up",
        "description": "Looks up a customer.",
        "parameters": {"type": "object", "properties": {"id": {"type": "string"}}},
        "strict": False,
    }
]
first = client.responses.create(model="any", input="Who is 7?", tools=tools)
call = first.output[0]
answer = {"type": "function_call_output", "call_id": call.call_id, "output": "Ada"}
second = client.responses.create(
    model="any", input=[answer], previous_response_id=first.id, tools=tools
)
types = []
with client.responses.stream(
    model="any", input="Again?", previous_response_id=second.id
) as stream:
    for event in stream:
        types.append(event.type)
    third = stream.get_final_response()
read = client.responses.retrieve(third.id)
print(
    json.dumps(
        {
            "texts": [second.output_text, third.output_text, read.output_text],
            "first": types[0],
            "last": types[-1],
        }
    )
)
