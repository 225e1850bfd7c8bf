import { explain } from "@colloquy/machine/inspect";

type Explain = typeof explain;

export const allWhole: Explain = (machine, state) => {
  const explanation = explain(machine, state);
  return { ...explanation, units: explanation.units.map((unit) => ({ ...unit, shown: "whole" })) };
};

export const onlyShown: Explain = (machine, state) => {
  const explanation = explain(machine, state);
  return { ...explanation, units: explanation.units.filter(({ sent }) => sent.length > 0) };
};

export const sendingAll: Explain = (machine, state) => {
  const explanation = explain(machine, state);
  return { ...explanation, units: explanation.units.map((unit) => ({ ...unit, sent: unit.messages })) };
};

export const miscounting: Explain = (machine, state) => {
  const explanation = explain(machine, state);
  const [first, ...others] = explanation.units;
  if (first === undefined || first.sentTokens === null || first.sentTokens === 0) return explanation;
  return { ...explanation, units: [{ ...first, sentTokens: first.sentTokens - 1 }, ...others] };
};

export const silent: Explain = (machine, state) => {
  const explanation = explain(machine, state);
  return { ...explanation, units: explanation.units.map((unit) => ({ ...unit, why: "" })) };
};
