export { fromBaseMessages, toBaseMessages } from "./messages.ts";
export { langchainModel } from "./model.ts";
export { threadHistory } from "./history.ts";
