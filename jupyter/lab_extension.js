// The course's front end, for JupyterLab 4 and Notebook 7: links land at the section that they name,
// a check's verdict stays on the screen, questions are answered by their letters, and stale answers
// and buttons say so. Everything works without it, less smoothly.

"use strict";

(() => {
  const FOLLOW_LINK = ":handle-local-link"; // of "rendermime" in JupyterLab, else of "application"
  const REMEMBERED = "pytree-course:link";
  const STILL_WANTED = 60_000; // ms, in which a notebook that a link opens has surely appeared
  const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  const STYLE = `
    .pytree-answer.jp-mod-dirty::after {
      content: "Changed since it ran: run this cell, then the check below it.";
      display: block; color: var(--jp-ui-font-color1); font-size: var(--jp-ui-font-size1);
      margin: 2px 0 0 calc(var(--jp-cell-prompt-width) + 2 * var(--jp-cell-padding));
      border-left: 4px dashed var(--jp-warn-color1); padding-left: 8px;
    }
    .pytree-answer.jp-mod-dirty + .jp-CodeCell .jp-Cell-outputWrapper { opacity: 0.5; }
    .jupyter-widgets-disconnected::before {
      content: "The kernel was restarted: run the cells again, from the top." !important;
    }
    .jupyter-widgets-disconnected .jupyter-widgets-disconnected::before { content: none !important; }`;

  // A link's section is remembered where the notebook that it opens finds it: JupyterLab looks for it
  // before there is content, and Notebook opens another tab of the browser without it.
  function recall(path) {
    const link = JSON.parse(window.localStorage.getItem(REMEMBERED));
    if (link?.path !== path) return null;
    window.localStorage.removeItem(REMEMBERED);
    return Date.now() - link.at < STILL_WANTED ? link.id : null;
  }

  // What is drawn late moves what is below it: call a function that scrolls to an element until the
  // element stays where it is, or the reader goes elsewhere.
  async function settle({ node }, scroll) {
    let [calm, gone, before] = [0, false, null];
    for (const kind of ["wheel", "keydown", "pointerdown"]) {
      node.addEventListener(kind, () => (gone = true), { once: true });
    }
    for (let tries = 0; calm < 5 && tries < 300 && !gone && node.isConnected; tries += 1) {
      const now = scroll()?.getBoundingClientRect().top;
      calm = now !== undefined && now === before ? calm + 1 : 0;
      before = now;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  // Go to a heading: in the cell with this id, or else in the first cell that has it.
  function land({ content: notebook }, fragment, id = null) {
    const name = decodeURIComponent(fragment.replace(/^#/, ""));
    const plain = (text) => text.replace(/^#+ +|[`*]/g, "").trim().replaceAll(" ", "-");
    const isHeading = (line) => /^#+ /.test(line) && plain(line) === plain(name);
    const hasIt = ({ type, sharedModel }) => type === "markdown" && sharedModel.source.split("\n").some(isHeading);
    const cell = notebook.widgets.find(({ model }) => (id ? model.id === id : hasIt(model)));
    if (!cell) return;
    activate(notebook, cell);
    void settle(notebook, () => {
      const heading = cell.node.querySelector(`[data-jupyter-id="${CSS.escape(name)}"]`);
      if (!heading) void notebook.scrollToItem(notebook.widgets.indexOf(cell), "start");
      heading?.scrollIntoView();
      return heading;
    });
  }

  // Make a cell the one that Shift+Enter runs.
  function activate(notebook, cell) {
    notebook.deselectAll();
    notebook.activeCellIndex = notebook.widgets.indexOf(cell);
    notebook.mode = "command";
    notebook.activate();
  }

  function leadOn(notebook, { model }) {
    activate(notebook, notebook.widgets.find((cell) => `${cell.model.id}-predict` === model.id));
  }

  // Show all of a cell's output, or its beginning: JupyterLab scrolls on to the next cell.
  function keepInSight(notebook, cell) {
    void settle(notebook, () => {
      const output = cell.node.querySelector(".jp-Cell-outputWrapper");
      const isTall = output.offsetHeight > notebook.node.clientHeight;
      output.scrollIntoView({ block: isTall ? "start" : "nearest" });
      cell.node.querySelector(".pytree-predict :is(button, input):not(:disabled)")?.focus();
      return output;
    });
  }

  function watchCells(notebook, watched) {
    for (const cell of notebook.widgets.filter((each) => !watched.has(each))) {
      watched.add(cell);
      cell.toggleClass("pytree-answer", cell.model.id.endsWith("-answer"));
      cell.model.stateChanged.connect((_, { name, newValue }) => {
        if (name === "executionCount" && newValue) afterRun(notebook, cell);
      });
    }
  }

  function afterRun(notebook, cell) {
    const { widgets, activeCellIndex } = notebook;
    const [index, { id }] = [widgets.indexOf(cell), cell.model];
    const isOneOfMany = activeCellIndex > index + 1; // as in "Run All Cells"
    if (!isOneOfMany && /-(check|predict)$|^course-map$|^review$/.test(id)) keepInSight(notebook, cell);
    if (widgets.some(({ model }) => model.id === `${id}-predict`)) {
      const answers = widgets.slice(index).map(({ node }) => node.querySelector("details"));
      answers.find(Boolean)?.setAttribute("open", "");
    }
  }

  // Letters choose an option, and arrows go from one to the next, instead of JupyterLab's shortcuts.
  function answerByKey(event, notebook) {
    const { target, key } = event;
    const isTyped = target.closest("input, textarea, .cm-editor");
    if (!notebook?.widgets || event.ctrlKey || event.altKey || event.metaKey || isTyped) return;
    const { widgets, activeCellIndex: at } = notebook;
    if (key === "Enter" && event.shiftKey && target.closest(".pytree-predict")) leadOn(notebook, widgets[at]);
    const near = widgets.slice(Math.max(0, at - 1), at + 1).map(({ node }) => node);
    const questions = near.flatMap((node) => [...node.querySelectorAll(".pytree-choice:not(:has(.mod-active))")]);
    const question = target.closest(".pytree-choice") ?? questions[0];
    const buttons = [...(question?.querySelectorAll("button:not(:disabled)") ?? [])];
    const chosen = buttons.find((button) => button.textContent.trim() === key.toUpperCase());
    const isStep = key in STEPS && buttons.includes(target);
    if (!chosen && !isStep) return;
    event.preventDefault();
    event.stopPropagation();
    if (chosen) chosen.click();
    else buttons.at((buttons.indexOf(target) + STEPS[key]) % buttons.length).focus();
  }

  function activateExtension(app) {
    const panels = () => [...app.shell.widgets("main")].filter((each) => each.context?.path);
    app.commands.commandExecuted.connect((_, { id: command, args: { path, id }, result }) => {
      if (!command.endsWith(FOLLOW_LINK) || !id) return;
      const panel = panels().find(({ context }) => context.path === path);
      if (panel) void result.then(() => land(panel, id));
      else window.localStorage.setItem(REMEMBERED, JSON.stringify({ path, id, at: Date.now() }));
    });
    app.docRegistry.addWidgetExtension("Notebook", {
      createNew: (panel, { model, path, ready }) => {
        const watched = new WeakSet();
        // JupyterLab writes into each notebook which Python its kernel has: nothing to be saved.
        model.metadataChanged.connect((_, { key }) => {
          if (key === "language_info" && !model.dirty) queueMicrotask(() => (model.dirty = false));
        });
        void Promise.all([ready, panel.revealed]).then(() => {
          if (panel.isDisposed) return; // Notebook opens it in another tab of the browser
          watchCells(panel.content, watched);
          model.cells.changed.connect(() => queueMicrotask(() => watchCells(panel.content, watched)));
          const fragment = recall(path);
          if (fragment) land(panel, fragment);
        });
      },
    });
    document.addEventListener("keydown", (event) => answerByKey(event, app.shell.currentWidget?.content), true);
    function react(event) {
      const { target, type } = event;
      const panel = panels().find(({ node }) => node.contains(target));
      const cell = panel?.content.widgets.find(({ node }) => node.contains(target));
      const link = cell && target.closest('a[href^="#"]');
      const question = target.closest(type === "click" ? "button" : "input")?.closest(".pytree-predict, .pytree-review");
      if (link) {
        event.preventDefault();
        land(panel, link.getAttribute("href"));
      } else if (question) {
        (question.matches(".pytree-predict") ? leadOn : keepInSight)(panel.content, cell);
      } else if (target.closest(".jp-tocItem")) {
        const contents = [...app.shell.widgets("left")].find(({ id }) => id === "table-of-contents");
        const { text, cellRef } = contents.model.activeHeading;
        if (cellRef) land(app.shell.currentWidget, text.replaceAll(" ", "-"), cellRef.model.id);
      }
    }
    for (const kind of ["click", "change"]) document.addEventListener(kind, react);
    document.head.append(Object.assign(document.createElement("style"), { textContent: STYLE }));
  }

  const plugin = {
    id: "pytree-course:plugin",
    description: "Links land at their section; verdicts stay in sight; letters answer questions.",
    autoStart: true,
    activate: activateExtension,
  };
  window._JUPYTERLAB ??= {}; // a federated module, written by hand: it needs no front-end build
  window._JUPYTERLAB["pytree-course"] = {
    init: () => {},
    get: async () => () => ({ __esModule: true, default: plugin }),
  };
})();
