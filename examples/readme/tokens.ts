import { conversationMachine, messageFromDraft } from "@colloquy/machine";
import { countMessage, tokenWindow } from "@colloquy/machine/policies";
import { gptCounter } from "@colloquy/interchange/tokens";

const counter = await gptCounter({ model: "gpt-4o" }); // or { encoding: "o200k_base" }
const machine = conversationMachine({ counter, budget: { tokens: 32_000, reserve: 2_000 }, policy: tokenWindow() });

console.log(machine.id, countMessage(counter, messageFromDraft("1.0", { role: "user", content: "What is a queue?" })));
