import { tool } from "@colloquy/host";

const input = { jsonSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } };

export const forecast = tool({
  name: "forecast",
  description: "The weather of a city.",
  input,
  run: ({ city }) => `Rain in ${String(city)}.`,
});

export const lookUp = tool({ name: "look_up", description: "Looks a word up.", input, run: () => "A line." });

export const notATool = { name: "forecast" };
