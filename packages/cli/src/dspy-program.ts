/** Returns whether a JSON value is a program that DSPy saved: a predictor, or several by their names. */
export const isDspyProgram = (value: unknown): boolean =>
  isPredictor(value) || (typeof value === "object" && value !== null && Object.values(value).some(isPredictor));

/** Describes the file of a program, and the user's options. */
export const dspyProgramProblem =
  "this is a program that DSPy saved (instructions, fields and demos), neither a conversation nor an agent of Colloquy; write its instructions and fields into an agent file as `signature`";

const isPredictor = (value: unknown): boolean =>
  isRecord(value) &&
  Array.isArray(value["demos"]) &&
  isRecord(value["signature"]) &&
  ("instructions" in value["signature"] || "fields" in value["signature"]);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
