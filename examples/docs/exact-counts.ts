// Uses exact token counts in place of the estimate: docs/prompts.md shows it.
import { conversationMachine, messageFromDraft } from "@colloquy/machine";
import { countMessage, estimateCounter, tokenWindow } from "@colloquy/machine/policies";
import { gptCounter } from "@colloquy/interchange/tokens";

const counter = await gptCounter({ model: "gpt-4o" }); // or { encoding: "o200k_base" }
const machine = conversationMachine({ counter, budget: { tokens: 32_000, reserve: 2_000 }, policy: tokenWindow() });

const message = messageFromDraft("1.0", { role: "user", content: '{"sky":"clear","wind":{"kmh":12}}' });
console.log(machine.id, countMessage(estimateCounter, message), countMessage(counter, message));
