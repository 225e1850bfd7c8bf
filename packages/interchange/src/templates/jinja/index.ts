export { jinjaTemplate, type JinjaTemplateOptions } from "./jinja-template.ts";
