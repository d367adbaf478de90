#!/usr/bin/env python3
"""Writes what Hugging Face's transformers makes of chat templates: tests/data/chat.json.

The templates are written for Tenon in the formats that published models expect (ChatML, Llama, Mistral,
Gemma, Phi, DeepSeek, Qwen, Granite and others), with the parts of the language that the models' own
templates use. `language` holds single expressions and statements. A text is null where Jinja refuses.

Usage: make_chats.py OUT
"""
import datetime
import json
import sys
from pathlib import Path

from transformers.utils import chat_template_utils

NOW = 1753272000


class FixedTime(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(NOW, datetime.timezone.utc)


chat_template_utils.datetime = FixedTime

TEMPLATES = {
    "chatml": "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\n' + "
              "message['content'] + '<|im_end|>' + '\n'}}{% endfor %}{% if add_generation_prompt %}"
              "{{ '<|im_start|>assistant\n' }}{% endif %}",
    "chatml-default-system": """{%- if messages[0]['role'] == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
{%- else %}
    {{- '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "tool" %}
        {{- raise_exception('no tools') }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
""",
    "thinking": """{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if message.content is string %}
        {%- set content = message.content %}
    {%- else %}
        {%- set content = '' %}
    {%- endif %}
    {%- if message.role == "assistant" %}
        {%- set reasoning_content = '' %}
        {%- if message.reasoning_content is string %}
            {%- set reasoning_content = message.reasoning_content %}
        {%- else %}
            {%- if '</think>' in content %}
                {%- set reasoning_content = content.split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n') %}
                {%- set content = content.split('</think>')[-1].lstrip('\\n') %}
            {%- endif %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index and (loop.last or (not loop.last and reasoning_content)) %}
            {{- '<|im_start|>' + message.role + '\\n<think>\\n' + reasoning_content.strip('\\n') + '\\n</think>\\n\\n' + content.lstrip('\\n') }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\\n' + content }}
        {%- endif %}
        {{- '<|im_end|>\\n' }}
    {%- else %}
        {{- '<|im_start|>' + message.role + '\\n' + content + '<|im_end|>' + '\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n</think>\\n\\n' }}
    {%- endif %}
{%- endif %}""",
    "header-ids": "{{- bos_token }}{% for message in messages %}{% set content = '<|start_header_id|>' + "
                  "message['role'] + '<|end_header_id|>\n\n' + message['content'] | trim + '<|eot_id|>' %}"
                  "{{ content }}{% endfor %}{% if add_generation_prompt %}"
                  "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}",
    "header-ids-date": """{{- bos_token }}
{%- if custom_tools is defined %}
    {%- set tools = custom_tools %}
{%- endif %}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}
        {%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}
        {%- set date_string = "26 Jul 2024" %}
    {%- endif %}
{%- endif %}
{#- This block extracts the system message, so we can slot it into the right place. #}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{{- "Today Date: " + date_string + "\\n\\n" }}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
""",
    "inst-sys": "{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}"
                "{% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}"
                "{% set system_message = false %}{% endif %}{% for message in loop_messages %}"
                "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
                "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}"
                "{% endif %}{% if loop.index0 == 0 and system_message != false %}"
                "{% set content = '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + message['content'] %}"
                "{% else %}{% set content = message['content'] %}{% endif %}{% if message['role'] == 'user' %}"
                "{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% elif message['role'] == 'assistant' %}"
                "{{ ' '  + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}",
    "inst": """{%- if messages[0]["role"] == "system" %}
    {%- set system_message = messages[0]["content"] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set loop_messages = messages %}
{%- endif %}
{%- set user_messages = loop_messages | selectattr("role", "equalto", "user") | list %}
{#- This block checks for alternating user/assistant messages. #}
{%- set ns = namespace() %}
{%- set ns.index = 0 %}
{%- for message in loop_messages %}
    {%- if not (message.role == "tool" or (message.tool_calls is defined and message.tool_calls is not none)) %}
        {%- if (message["role"] == "user") != (ns.index % 2 == 0) %}
            {{- raise_exception("After the optional system message, conversation roles must alternate user/assistant/user/assistant/...") }}
        {%- endif %}
        {%- set ns.index = ns.index + 1 %}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in loop_messages %}
    {%- if message["role"] == "user" %}
        {%- if loop.last and system_message is defined %}
            {{- "[INST]" + system_message + "\\n\\n" + message["content"] + "[/INST]" }}
        {%- else %}
            {{- "[INST]" + message["content"] + "[/INST]" }}
        {%- endif %}
    {%- elif message["role"] == "assistant" %}
        {{- message["content"] + eos_token}}
    {%- else %}
        {{- raise_exception("Only user and assistant roles are supported, with the exception of an initial optional system message!") }}
    {%- endif %}
{%- endfor %}
""",
    "system-prompt": """{%- set today = strftime_now("%Y-%m-%d") %}
{%- set default_system_message = "You are a model. The current date is " + today + "." %}
{{- bos_token }}
{%- if messages[0]['role'] == 'system' %}
    {%- if messages[0]['content'] is string %}
        {%- set system_message = messages[0]['content'] %}
    {%- else %}
        {%- set system_message = messages[0]['content'][0]['text'] %}
    {%- endif %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set system_message = default_system_message %}
    {%- set loop_messages = messages %}
{%- endif %}
{{- '[SYSTEM_PROMPT]' + system_message + '[/SYSTEM_PROMPT]' }}
{%- for message in loop_messages %}
    {%- if message['role'] == 'user' %}
        {%- if message['content'] is string %}
            {{- '[INST]' + message['content'] + '[/INST]' }}
        {%- else %}
            {{- '[INST]' }}
            {%- for block in message['content'] %}
                {%- if block['type'] == 'text' %}{{- block['text'] }}{%- endif %}
            {%- endfor %}
            {{- '[/INST]' }}
        {%- endif %}
    {%- elif message['role'] == 'assistant' %}
        {{- message['content'] + eos_token }}
    {%- else %}
        {{- raise_exception('Only user, system and assistant roles are supported!') }}
    {%- endif %}
{%- endfor %}""",
    "turns": "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not "
             "supported') }}{% endif %}{% for message in messages %}{% if (message['role'] == 'user') != "
             "(loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate "
             "user/assistant/user/assistant/...') }}{% endif %}{% if (message['role'] == 'assistant') %}"
             "{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}"
             "{{ '<start_of_turn>' + role + '\n' + message['content'] | trim + '<end_of_turn>\n' }}"
             "{% endfor %}{% if add_generation_prompt %}{{'<start_of_turn>model\n'}}{% endif %}",
    "turns-prefix": """{{ bos_token }}
{%- if messages[0]['role'] == 'system' -%}
    {%- if messages[0]['content'] is string -%}
        {%- set first_user_prefix = messages[0]['content'] + '

' -%}
    {%- else -%}
        {%- set first_user_prefix = messages[0]['content'][0]['text'] + '

' -%}
    {%- endif -%}
    {%- set loop_messages = messages[1:] -%}
{%- else -%}
    {%- set first_user_prefix = "" -%}
    {%- set loop_messages = messages -%}
{%- endif -%}
{%- for message in loop_messages -%}
    {%- if (message['role'] == 'user') != (loop.index0 % 2 == 0) -%}
        {{ raise_exception("Conversation roles must alternate user/assistant/user/assistant/...") }}
    {%- endif -%}
    {%- if (message['role'] == 'assistant') -%}
        {%- set role = "model" -%}
    {%- else -%}
        {%- set role = message['role'] -%}
    {%- endif -%}
    {{ '<start_of_turn>' + role + '
' + (first_user_prefix if loop.first else "") }}
    {%- if message['content'] is string -%}
        {{ message['content'] | trim }}
    {%- elif message['content'] is iterable -%}
        {%- for item in message['content'] -%}
            {%- if item['type'] == 'text' -%}{{ item['text'] | trim }}{%- endif -%}
        {%- endfor -%}
    {%- else -%}
        {{ raise_exception("Invalid content type") }}
    {%- endif -%}
    {{ '<end_of_turn>
' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{'<start_of_turn>model
'}}
{%- endif -%}
""",
    "role-tags": "{% for message in messages %}{% if message['role'] == 'system' and message['content'] %}"
                 "{{'<|system|>\n' + message['content'] + '<|end|>\n'}}{% elif message['role'] == 'user' %}"
                 "{{'<|user|>\n' + message['content'] + '<|end|>\n'}}{% elif message['role'] == 'assistant' %}"
                 "{{'<|assistant|>\n' + message['content'] + '<|end|>\n'}}{% endif %}{% endfor %}"
                 "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% else %}{{ eos_token }}{% endif %}",
    "role-tags-lines": """{% for message in messages %}
{% if message['role'] == 'user' %}
{{ '<|user|>
' + message['content'] + eos_token }}
{% elif message['role'] == 'system' %}
{{ '<|system|>
' + message['content'] + eos_token }}
{% elif message['role'] == 'assistant' %}
{{ '<|assistant|>
'  + message['content'] + eos_token }}
{% endif %}
{% if loop.last and add_generation_prompt %}
{{ '<|assistant|>' }}
{% endif %}
{% endfor %}""",
    "user-assistant": """{%- set ns = namespace(system='') -%}
{%- for m in messages if m.role == 'system' -%}{%- set ns.system = ns.system ~ m.content ~ ' ' -%}{%- endfor -%}
{{ bos_token ~ ns.system }}
{%- for m in messages if m.role != 'system' -%}
    {{ 'USER: ' ~ m.content ~ ' ' if m.role == 'user' else 'ASSISTANT: ' ~ m.content ~ eos_token }}
{%- endfor -%}
{{ 'ASSISTANT:' if add_generation_prompt }}""",
    "instruction": """{%- for message in messages %}
{%- if message['role'] == 'system' -%}
{{ message['content'] }}

{% elif message['role'] == 'user' -%}
### Instruction:
{{ message['content'] }}

{% else -%}
### Response:
{{ message['content'] }}
{{ eos_token }}
{% endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
### Response:
{% endif -%}
""",
    "wide-bars": "{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}"
                 "{% set ns = namespace(is_first=false, is_tool=false, is_output_first=true, system_prompt='') %}"
                 "{%- for message in messages %}{%- if message['role'] == 'system' %}"
                 "{% set ns.system_prompt = message['content'] %}{%- endif %}{%- endfor %}{{bos_token}}"
                 "{{ns.system_prompt}}{%- for message in messages %}{%- if message['role'] == 'user' %}"
                 "{%- set ns.is_tool = false -%}{{'<\uff5cUser\uff5c>' + message['content']}}{%- endif %}"
                 "{%- if message['role'] == 'assistant' and message['content'] is not none %}"
                 "{%- if ns.is_tool %}{{message['content']}}{%- else %}{% set content = message['content'] %}"
                 "{% if '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}"
                 "{{'<\uff5cAssistant\uff5c>' + content + '<\uff5cend\u2581of\u2581sentence\uff5c>'}}{%- endif %}"
                 "{%- endif %}{%- endfor -%}{% if add_generation_prompt and not ns.is_tool %}"
                 "{{'<\uff5cAssistant\uff5c>'}}{% endif %}",
    "role-ids": """{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content'] %}
    {%- set loop_messages = messages[1:] %}
{%- else %}
    {%- set system_message = "Knowledge Cutoff Date: April 2024.\\nToday's Date: " + strftime_now('%B %d, %Y') + ".\\nYou are a model." %}
    {%- if tools and documents %}
        {%- set system_message = system_message + " You may call tools." %}
    {%- endif %}
    {%- set loop_messages = messages %}
{%- endif %}
{{- '<|start_of_role|>system<|end_of_role|>' + system_message + '<|end_of_text|>\\n' }}
{%- for message in loop_messages %}
    {{- '<|start_of_role|>' + message['role'] + '<|end_of_role|>' + message['content'] + '<|end_of_text|>\\n' }}
    {%- if loop.last and add_generation_prompt %}
        {{- '<|start_of_role|>assistant' }}
            {%- if controls %}
                {{- ' ' + controls | tojson()}}
            {%- endif %}
        {{- '<|end_of_role|>' }}
    {%- endif %}
{%- endfor %}""",
    "turn-tokens": """{{ bos_token }}{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}{% if system_message != false %}{{ '<|START_OF_TURN_TOKEN|><|SYSTEM_TOKEN|>' + system_message + '<|END_OF_TURN_TOKEN|>' }}{% endif %}{% for message in loop_messages %}{% set content = message['content'] %}{% if message['role'] == 'user' %}{{ '<|START_OF_TURN_TOKEN|><|USER_TOKEN|>' + content.strip() + '<|END_OF_TURN_TOKEN|>' }}{% elif message['role'] == 'assistant' %}{{ '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>'  + content.strip() + '<|END_OF_TURN_TOKEN|>' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>' }}{% endif %}""",
    "names": "{{ bos_token }}{% for message in messages %}{{ 'GPT4 Correct ' + message['role'].title() + ': ' + "
             "message['content'] + '<|end_of_turn|>'}}{% endfor %}{% if add_generation_prompt %}"
             "{{ 'GPT4 Correct Assistant:' }}{% endif %}",
    "generation": """{%- for message in messages -%}
{%- if message.role == 'assistant' -%}
<|assistant|>{% generation %}{{ message.content }}{{ eos_token }}{% endgeneration %}

{% else -%}
{{ '<|' ~ message.role ~ '|>' }}{{ message.content | replace('\\r\\n', '\\n') }}
{% endif -%}
{%- endfor -%}
{%- if add_generation_prompt %}<|assistant|>{% endif -%}""",
    "macros": """{%- macro turn(role, content, end='<|eom|>') -%}
<|{{ role | upper }}|>{{ content | trim }}{{ end }}
{%- endmacro -%}
{%- macro all_turns(list) -%}
    {%- for m in list -%}
        {%- if m.role not in ['system', 'user', 'assistant'] -%}{%- continue -%}{%- endif -%}
        {{- turn(m.role, m.content) if not loop.last else turn(m.role, m.content, end='<|last|>') -}}
    {%- else -%}
        <|nothing|>
    {%- endfor -%}
{%- endmacro -%}
{{- all_turns(messages) -}}
{%- if add_generation_prompt %}<|ASSISTANT|>{% endif %}""",
    "keyed": """{%- set marks = {'system': '[S]', 'user': '[U]', 'assistant': '[A]'} -%}
{%- for message in messages -%}
    {%- for key, value in message.items() -%}
        {%- if key == 'content' -%}{{ marks.get(message.role, '[?]') + value }}{%- endif -%}
    {%- endfor -%}
    {%- if loop.nextitem is defined and loop.nextitem.role == message.role %} +{% endif -%}
    {{- "\\n" -}}
{%- endfor -%}
{{ messages | map(attribute='role') | join(',') }}|{{ messages | rejectattr('role', 'eq', 'user') | list | length }}
{%- if add_generation_prompt %}{{ marks.assistant }}{% endif %}""",
    "json": """{%- for message in messages %}
{{ message | tojson }}
{%- endfor %}
{{ messages | tojson(indent=2) }}""",
}

CHATS = [
    [("user", "Hello")],
    [("system", "Be brief."), ("user", "Hello")],
    [("user", "Hello"), ("assistant", "Hi!"), ("user", "Who are you?")],
    [("system", "You are a pirate.\n"), ("user", " Hello \n"), ("assistant", " Ahoy! "), ("user", "More\n\nlines")],
    [("user", "Think"), ("assistant", "<think>\nHm.\n</think>\n\nYes."), ("user", "Sure?")],
    [("user", "a"), ("assistant", "<think>x</think>b")],
    [("user", "one"), ("user", "two")],
    [("system", "only")],
    [("user", "\u65e5\u672c \U0001F600 \u00e9 \"quoted\" 'single' \\ {{ 7 * 7 }} {% if %} <s>")],
    [("user", "")],
    [("system", ""), ("user", "1"), ("assistant", "2"), ("user", "3"), ("assistant", "4"), ("user", "5")],
    [("tool", "result"), ("user", "and?")],
]

LANGUAGE = [
    # White space.
    "a\n{% if true %}\nb\n{% endif %}\nc\n", "a  {%- if true -%}  b  {%- endif -%}  c", "  {% if true %}x{% endif %}",
    "x  {% if true %}\n  y{% endif %}", "x\n  {%+ if true %}y{% endif %}", "{% if true +%}\ny{% endif %}",
    "{{ 'a' }}\n{{ 'b' }}\n", "  {# c #}  x", "a\n  {# c #}\nb", "a {#- c -#} b", "{{- 'a' -}}  b", "  {{ 'a' }}  ",
    "a\r\nb\rc", "{{ 'a' }}\n\n", "{% set x = 1 %}\n\n{{ x }}", "{{ {'a': {'b': 1}} }}", "a { b } % c #}", "{{ '}}' }}",
    "{%- for i in range(3) %}\n{{ i }}\n{%- endfor %}", "x {%if true%}y{%endif%} z", "\t{% if true %}\tz\n\t{% endif %}\t!",
    # Values as text.
    "{{ 1 }} {{ 1.0 }} {{ 1.5 }} {{ true }} {{ none }} {{ nothing }}", "{{ [1, 'a', none, 2.5, true] }}",
    "{{ {'a': 1, 'b': [2]} }}", "{{ (1, 2)|list }}", "{{ \"it's\" }} {{ [\"it's\", 'x\"y', 'a\\nb'] }}", "{{ 1e3 }}",
    "{{ 10 / 4 }} {{ 10 // 4 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 2 ** 10 }}", "{{ 0.1 + 0.2 }}", "{{ 1 / 3 }}",
    "{{ 1e16 }} {{ 100000.0 * 10 }}", "{{ 7.5 // 2 }} {{ -7.5 % 2 }}", "{{ 'a' 'b' }}", "{{ 'tab\\tnew' }}", "{{ '\\\\n' }}",
    "{{ 'a\\'b' }}", "{{ 3|string + 'x' }}", "{{ true + 1 }}", "{{ 'é'|length }} {{ '日本'[1] }} {{ '日本語'[::-1] }}",
    # Operators.
    "{{ 1 < 2 < 3 }} {{ 1 < 2 > 3 }}", "{{ 'a' in 'abc' }} {{ 'x' not in ['x'] }} {{ 'a' in {'a': 1} }}",
    "{{ not true or true }} {{ not (true or true) }}", "{{ 'a' or 'b' }} {{ '' or 'b' }} {{ 0 and 1 }}", "{{ 1 if false }}",
    "{{ 1 if false else 2 if false else 3 }}", "{{ 'a' ~ 1 ~ none ~ nothing }}", "{{ 2 + 3 * 4 - 1 }}", "{{ (2 + 3) * 4 }}",
    "{{ 'ab' * 3 }} {{ [1] * 2 }}", "{{ [1] + [2] }}", "{{ -2|abs }}", "{{ 1 == 1.0 }} {{ 'a' == 'a' }} {{ [1] == [1] }}",
    "{{ none == none }} {{ nothing == none }}", "{{ 'b' > 'a' }}", "{{ 1 + nothing }}", "{{ 'a' + 1 }}", "{{ 1 < 'a' }}",
    "{{ 'a' in nothing }}", "{{ 'a' in none }}", "{{ 1 is not none and 2 is defined }}", "{{ 5 - 2 - 1 }}", "{{ 'a' ~ 'b' + 'c' }}",
    # Members, indices, slices.
    "{{ messages[0].role }} {{ messages[-1]['content'] }}", "{{ messages[5] }}x", "{{ messages[5].role }}",
    "{{ messages[0].missing }}x", "{{ messages[0].missing.deeper }}", "{{ none.x }}x", "{{ 'abc'.x }}x", "{{ 'abc'[1:] }}",
    "{{ 'abcdef'[1:-1] }} {{ 'abc'[:2] }} {{ 'abc'[-2:] }} {{ 'abc'[5:] }}x", "{{ [1, 2, 3][::-1] }}", "{{ [1, 2, 3][1:][0] }}",
    "{{ 'abc'[::-1] }}", "{{ [1,2,3][-9:9] }} {{ [1,2,3][2:1] }}", "{{ {'a': {'b': 'c'}}.a.b }}", "{{ {'items': 1}['items'] }}",
    "{{ [[1, 2], [3]][0][1] }}", "{{ 'abc'[9] }}x",
    # Statements.
    "{% for i in [1, 2, 3] %}{{ loop.index }}{{ loop.first }}{{ loop.last }}{{ loop.revindex0 }};{% endfor %}",
    "{% for i in [] %}x{% else %}none{% endfor %}", "{% for i in range(5) if i % 2 %}{{ i }}/{{ loop.length }} {% endfor %}",
    "{% for i in range(9) %}{% if i == 3 %}{% break %}{% endif %}{% if i == 1 %}{% continue %}{% endif %}{{ i }}{% endfor %}",
    "{% for a, b in [[1, 2], [3, 4]] %}{{ a }}-{{ b }} {% endfor %}", "{% for c in 'héy' %}{{ c }},{% endfor %}",
    "{% for k in {'a': 1, 'b': 2} %}{{ k }}{% endfor %}", "{% for i in nothing %}x{% endfor %}", "{% for i in none %}x{% endfor %}",
    "{% for i in [1, 2] %}{% for j in [3, 4] %}{{ loop.index }}{% endfor %}{{ loop.index }}{% endfor %}",
    "{% for i in [1, 2, 3] %}{{ loop.previtem }}<{{ loop.nextitem }};{% endfor %}",
    "{% set x = 1 %}{% for i in [1] %}{% set x = 2 %}{% endfor %}{{ x }}", "{% set x = 1 %}{% if true %}{% set x = 2 %}{% endif %}{{ x }}",
    "{% for i in [1, 2] %}{% if i == 1 %}{% set y = i %}{% endif %}{{ y }};{% endfor %}",
    "{% set ns = namespace(a=1) %}{% for i in [1, 2] %}{% set ns.a = ns.a + i %}{% endfor %}{{ ns.a }}", "{% set a, b = 1, 2 %}{{ a }}{{ b }}",
    "{% set x %}a{{ 1 }}b{% endset %}[{{ x }}]", "{% if nothing %}a{% elif '' %}b{% elif [0] %}c{% else %}d{% endif %}",
    "{% macro m(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ m(1) }} {{ m(1, 3) }} {{ m(b=1, a=0) }}", "{% macro m(a) %}[{{ a }}]{% endmacro %}{{ m() }}",
    "{% set x = 1 %}{% macro m() %}{{ x }}{% endmacro %}{% for x in [2] %}{{ m() }}{% endfor %}", "{% set x = namespace %}{{ x is callable }}",
    "{% set d = dict(a=1, b=2) %}{{ d }}", "{% for k, v in {'b': 1, 'a': 2}|dictsort %}{{ k }}{{ v }}{% endfor %}",
    # Filters.
    "{{ '  a b '|trim }}|{{ 'xxaxx'|trim('x') }}", "{{ 'aBc dEf'|upper }} {{ 'ABC'|lower }} {{ 'aB cD'|title }} {{ 'aB cD'|capitalize }}",
    "{{ [3, 1, 2]|sort }} {{ ['b', 'A', 'c']|sort }} {{ [3, 1, 2]|sort(reverse=true) }}", "{{ [1, 2]|first }} {{ [1, 2]|last }} {{ []|first }}x",
    "{{ [1, 2, 3]|join('-') }} {{ 'abc'|join('.') }}", "{{ nothing|default('d') }} {{ ''|default('d') }} {{ ''|default('d', true) }}",
    "{{ 'a.b.c'|replace('.', '-') }} {{ 'aaa'|replace('a', 'b', 2) }}", "{{ '42'|int + 1 }} {{ 'x'|int }} {{ '1.5'|float }} {{ 3.9|int }}",
    "{{ {'a': [1, none, true, 'x\"y', 'é', 1.0]}|tojson }}", "{{ {'a': {'b': []}, 'c': [1, {}]}|tojson(indent=2) }}", "{{ 'a/<b>&'|tojson }}",
    "{{ 'a\\nb\\n\\nc'|indent }}", "{{ 'a\\nb'|indent(2, true) }}", "{{ [1, 2, 2, 1]|unique|list }}", "{{ 'abc'|reverse }} {{ [1, 2]|reverse|list }}",
    "{{ ['a', 'b']|map('upper')|list }}", "{{ messages|map(attribute='role')|list }}", "{{ [0, 1, '', 'a']|select|list }}",
    "{{ [1, 'a', 2]|select('string')|list }} {{ [1, 'a']|reject('string')|list }}", "{{ messages|selectattr('role', 'equalto', 'user')|list|length }}",
    "{{ messages|selectattr('missing')|list }}", "{{ [1, 2, 3]|sum }} {{ [1, 5, 3]|max }} {{ [4, 2]|min }}", "{% for k, v in {'a': 1}|items %}{{ k }}{{ v }}{% endfor %}",
    "{{ 'a'|length }} {{ [1, 2]|count }} {{ {'a': 1}|length }}", "{{ 'a'|list }} {{ 12|string }}", "{{ 2.7|round }}", "{{ 'a'|safe }}", "{{ nothing|length }}",
    # Tests.
    "{{ 'a' is string }} {{ 1 is number }} {{ true is number }} {{ 1.5 is float }} {{ 1 is integer }} {{ true is integer }}",
    "{{ {} is mapping }} {{ [] is sequence }} {{ 'a' is iterable }} {{ none is none }} {{ true is true }} {{ 1 is true }} {{ false is boolean }}",
    "{{ 3 is odd }} {{ 3 is even }} {{ 4 is divisibleby 2 }} {{ 4 is divisibleby(3) }}", "{{ 1 is in [1] }} {{ 'a' is not in 'b' }}",
    "{{ 1 is eq 1 }} {{ 1 is ne(2) }} {{ 2 is gt 1 }} {{ 2 is lt 1 }} {{ 1 is sameas 1 }}", "{{ nothing is undefined }} {{ nothing is defined }}",
    "{{ nothing is not defined and 1 }}", "{{ strftime_now is defined }} {{ range is defined }}",
    # Methods.
    "{{ ' a '.strip() }}|{{ 'xay'.strip('xy') }}|{{ ' a '.lstrip() }}|{{ ' a '.rstrip() }}|", "{{ 'a,b,c'.split(',') }} {{ ' a  b '.split() }} {{ 'a,b,c'.split(',', 1) }}",
    "{{ 'abc'.startswith('ab') }} {{ 'abc'.endswith(('x', 'c')) }}", "{{ 'a-b'.replace('-', '+') }} {{ 'ab'.upper() }} {{ 'aB'.title() }}",
    "{{ 'abc'.find('c') }} {{ 'abc'.find('x') }} {{ 'aXbX'.count('X') }}", "{{ ', '.join(['a', 'b']) }}", "{{ {'a': 1}.get('a') }} {{ {'a': 1}.get('b', 2) }} {{ {}.get('x') }}",
    "{{ {'a': 1}.keys()|list }} {{ {'a': 1}.values()|list }}", "{{ 'a\\nb\\n'.splitlines() }}", "{{ 'é日'.upper() }} {{ 'ÀB'.lower() }}",
    "{{ 'abc'.nothing() }}", "{{ messages.append(1) }}", "{{ raise_exception('x') }}", "{{ range(2, 8, 2)|list }} {{ range(3, 0, -1)|list }} {{ range(0)|list }}",
    "{{ namespace(a=1).a }}", "{{ 'a'.split('') }}", "{{ unknown() }}", "{{ 'a'|unknown }}", "{{ 'a' is unknown }}",
]


def render(template, messages, **variables):
    try:
        compiled = chat_template_utils._compile_jinja_template(template)
        return compiled.render(messages=messages, tools=None, documents=None, bos_token="<s>",
                               eos_token="</s>", **variables)
    except Exception:
        return None


def main():
    chats = [[{"role": role, "content": content} for role, content in chat] for chat in CHATS]
    templates = [{"name": name, "template": template,
                  "texts": [render(template, chat, add_generation_prompt=adds)
                            for chat in chats for adds in (False, True)]}
                 for name, template in TEMPLATES.items()]
    hello = [{"role": "user", "content": "Hi"}]
    language = [{"template": template, "text": render(template, hello, add_generation_prompt=True)}
                for template in LANGUAGE]
    rows = [json.dumps(row, ensure_ascii=False) for row in templates]
    lines = [json.dumps(row, ensure_ascii=False) for row in language]
    Path(sys.argv[1]).write_text(
        f'{{"now": {NOW},\n"chats": {json.dumps(chats, ensure_ascii=False)},\n"templates": [\n'
        + ",\n".join(rows) + '\n],\n"language": [\n' + ",\n".join(lines) + "\n]}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
