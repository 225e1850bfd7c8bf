import { session } from "@colloquy/sessions";
import { z } from "zod";

const signature = {
  inputs: z.object({ question: z.string() }),
  outputs: z.object({ answer: z.string() }),
};
const qa = session(
  ({ question }, { memory }) => ({ answer: `${question} is number ${memory.exchanges.length + 1}.` }),
  { name: "qa", signature },
);
await qa.call({ question: "A" });
console.log(await qa.call({ question: "B" })); // { answer: "B is number 2." }
await qa.close();
