import type { Content } from "@colloquy/machine";
import { converseOn, converseOnScreen, failureText, keymapOf, named, suitsScreen } from "@colloquy/cli/terminal";
import { answerApproval } from "./answer-approval.ts";
import { answersOn, formatOf } from "./answers.ts";
import { askOnce } from "./ask-once.ts";
import { attachmentFrom } from "./attachment.ts";
import { type Chat, openedChat } from "./chat-host.ts";
import type { CommandContext } from "./command-context.ts";
import { ArgumentError, exitCodes, InterruptedError } from "./exit-code.ts";
import type { OptionValues } from "./options.ts";
import { pipedQuestions } from "./piped-questions.ts";
import { historyFile } from "./history-file.ts";
import { type Settled, settled } from "./settings.ts";
import { textEditor } from "./text-editor.ts";

/** Runs a conversation with a model on a server, or with the agent of a file. Returns the exit code. */
export const chat = async (words: readonly string[], given: OptionValues, context: CommandContext): Promise<number> => {
  const settings = settled(given, context);
  const { options } = settings;
  const { printer, errors, input, signal, isTerminal } = context;
  const format = formatOf(options["output-format"]);
  const detail = options.quiet === true ? "none" : options.verbose === true ? "all" : "some";
  const streams = context.outputIsTerminal && options["no-stream"] !== true;
  const answers = answersOn(printer, errors, { format, streams, detail });
  const isAnswer = (options.approve ?? options.deny) !== undefined;
  const question = words.join(" ").trim();
  if (isAnswer && question !== "")
    throw new ArgumentError("--approve and --deny answer a call; ask the question behind it");
  if (words.length > 0 && question === "")
    throw new ArgumentError("the question is empty; ask something, or leave it out");
  const isAlone = question !== "" && options["multi-turn"] !== true;
  const attached = isAlone && !context.inputIsTerminal ? await attachmentFrom(input, signal) : null;
  const opened = await refusing(() => openedChat(settings, context));
  try {
    const converses = isTerminal && format === "text" && !isAlone && !isAnswer;
    if (converses && detail !== "none") printer.line(`${opened.about}; /help lists the commands`);
    else if (detail !== "none") errors.line(`${opened.about}; thread ${named(opened.threadId)}`);
    if (isAnswer) return await answerApproval(opened, options, answers, signal);
    if (converses) return await conversation(opened, { ...settings, question, detail }, context);
    const first =
      question === "" ? exitCodes.done : await askOnce(opened, contentOf(question, attached), answers, signal);
    return isAlone || signal.aborted ? first : await pipedQuestions(opened, answers, context, first);
  } finally {
    await opened.close();
  }
};

interface Conversed {
  /** A question to ask at the beginning; empty for none. */
  readonly question: string;
  readonly detail: "none" | "some" | "all";
}

const conversation = async (
  { host, threadId, ask, notes, models, steers, notices, agent }: Chat,
  { options, ownKeys, historyFile: history, question, detail }: Settled & Conversed,
  { input, printer, isTerminal, environment, signal }: CommandContext,
): Promise<number> => {
  const streams = options["no-stream"] !== true;
  const given = { ...(notes === undefined ? {} : { notes }), ...(question === "" ? {} : { question }) };
  const shared = { host, threadId, input, signal, ask, models, detail, streams, ...given };
  const labels = options["screen-reader"] === true;
  const output = printer.unguarded;
  if (labels || !suitsScreen(output, environment)) {
    notices.show = (text) => {
      printer.endLine();
      text.split("\n").forEach((line) => printer.line(line, "dim"));
    };
    await converseOn(printer, { ...shared, isTerminal, labels });
  } else {
    const editText = textEditor(environment);
    await converseOnScreen({
      ...shared,
      steers,
      notices: (show) => void (notices.show = show),
      output,
      environment: options["no-color"] === true ? { ...environment, FORCE_COLOR: "0" } : environment,
      ...(options.theme === undefined ? {} : { theme: options.theme }),
      ...(options.keys === "seed" ? { agentLabel: agent?.name ?? models.present() } : {}),
      keymap: keymapOf(options.keys ?? "standard", ownKeys),
      ...(history === null ? {} : { history: historyFile(history) }),
      ...(editText === undefined ? {} : { editText }),
    });
  }
  return signal.aborted ? exitCodes.interrupted : exitCodes.done;
};

const contentOf = (question: string, attached: string | null): Content =>
  attached === null
    ? question
    : [
        { type: "text", text: question },
        { type: "text", text: attached },
      ];

/** Converts errors before the first ask to argument errors. */
const refusing = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (thrown) {
    const isInWords = thrown instanceof ArgumentError || thrown instanceof InterruptedError;
    throw isInWords ? thrown : new ArgumentError(failureText(thrown), { cause: thrown });
  }
};
