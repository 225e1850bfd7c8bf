export { recordingMatchers } from "./recordings.ts";
