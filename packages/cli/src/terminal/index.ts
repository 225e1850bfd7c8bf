// Conversations: with a person on a screen, or line by line.
export { converse, converseOn, type ConverseOptions, type ConverseOutcome } from "./plain/converse.ts";
export { converseOnScreen, type ConverseOnScreenOptions, suitsScreen } from "./converse-on-screen.ts";
export { endingOf } from "./ending.ts";

// For custom screens and conversations.
export { terminalConversation } from "./conversation/terminal-conversation.ts";
export type { TerminalConversationOptions } from "./conversation/options.ts";
export { runScreen } from "./run-screen.ts";
export type * from "./screen/screen-options.ts";
export type * from "./conversation/screen-port.ts";
export type * from "./conversation/shown.ts";

// Keys and looks.
export { type Action, actions } from "./input/action.ts";
export { type Keymap, keymapOf, keymaps } from "./input/keymap.ts";
export type { Key } from "./input/key.ts";
export type { HistoryPort } from "./input/history.ts";
export { type TextStyle, type Theme, themeNamed, themes } from "./text/theme.ts";
export { opensLinks, themeNameFor, wantsColour } from "./text/terminal-abilities.ts";

// Full-screen views, as values.
export type * from "./views/view.ts";
export { atView } from "./views/at-view.ts";
export { diffView } from "./views/diff-view.ts";
export { explainView } from "./views/explain-view.ts";
export { searchView } from "./views/search-view.ts";
export { threadsView } from "./views/threads-view.ts";
export { transcriptView } from "./views/transcript-view.ts";
export { treeView } from "./views/tree-view.ts";

// Lines, which views and laid out Markdown consist of.
export type { Line, Role, Size, Span } from "./text/line.ts";
export { painted } from "./text/paint.ts";
export { cutLine, wrapped } from "./text/wrap.ts";
export { markdownLines, MarkdownStream } from "./markdown/markdown-stream.ts";
export { markdownBlockLines } from "./markdown/markdown-lines.ts";
export type { CodePart, MarkdownBlock } from "./markdown/markdown-block.ts";
export type { MarkdownLook } from "./markdown/place.ts";

// Texts from outside, and descriptions of events.
export { Printer, type Style } from "./text/printer.ts";
export { approvableJson, named, oneLine, printable, printableJson, shortened } from "./text/printable.ts";
export { failureText, reasonOf } from "./text/failure-text.ts";
export { costOf, counted, durationOf, figuresOf, tokensOf } from "./text/figures.ts";

// For a command that reads questions from a pipe.
export type * from "./commands/command.ts";
export { commandIn, performCommand, slashCommands } from "./commands/commands.ts";
export { plainTarget, type PlainTargetOptions } from "./plain/plain-target.ts";
export { noteOf } from "./text/notice.ts";
