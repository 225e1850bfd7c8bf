import { renderThread } from "@colloquy/interchange/templates";
import { jinjaTemplate } from "@colloquy/interchange/templates/jinja";
import { conversationMachine, start, transition } from "@colloquy/machine";

// From the model's tokenizer_config.json or GGUF file.
const chatTemplate = `{% for message in messages %}<|im_start|>{{ message.role }}
{{ message.content | trim }}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}`;
const template = jinjaTemplate(chatTemplate, { eosToken: "<|im_end|>" });

const machine = conversationMachine();
const begun = start(machine, { threadId: "lesson", system: "Be gentle.", at: 0 });
const messages = [{ role: "user", content: "Hello!" }] as const;
const { state } = transition(machine, begun.state, { type: "turn.added", messages, at: 0 });

const rendered = renderThread(template, state);
console.log("right" in rendered ? rendered.right : rendered.left);
