export * from "./prompt-view.ts";
export * from "./scripted-model.ts";
export * from "./script.ts";
