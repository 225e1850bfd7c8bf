export * from "./prompt-view.ts";
export * from "./rule-model.ts";
export * from "./script.ts";
export * from "./scripted-model.ts";
