// The course's front end, for JupyterLab 4 and Notebook 7: links land at their section, a check's verdict
// stays in sight, letters answer questions, and stale answers and buttons say so.

(() => {
  const FOLLOW_LINK = ":handle-local-link"; // of "rendermime" in JupyterLab, else of "application"
  const REMEMBERED = "pytree-course:link";
  const STILL_WANTED = 60_000; // ms, in which a notebook that a link opens has surely appeared
  const IN_SIGHT = /-(check|predict)$|^course-map$|^review$/; // ids of cells whose output matters
  const OURS = ".pytree-predict, .pytree-review, .pytree-help";
  const OPEN = ".pytree-choice:has(button:not(:disabled))";
  const NEXT = `.pytree-answered button, ${OPEN}, :is(.pytree-predict, .pytree-review) input:not(:disabled)`;
  const SHOWS = /^check\.\w+\.(hint|solution)\(|^(join|leave|vote)\(/m; // cells that a learner adds
  const RESTARTED = "The kernel was restarted: run the cells again, from the top.";
  const ROWS = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };
  const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  const STYLE = `
    .pytree-answer.jp-mod-dirty::after {
      content: "Changed since it ran: run this cell, then the check below it."; display: block;
      margin: 2px 0 0 calc(var(--jp-cell-prompt-width) + 2 * var(--jp-cell-padding)); padding-left: 8px;
      border-left: 4px dashed var(--jp-warn-color1); font: var(--jp-ui-font-size1) var(--jp-ui-font-family);
    }
    .pytree-answer.jp-mod-dirty + .jp-CodeCell .jp-Cell-outputWrapper:not(:has(.pytree-not-attempted)) { opacity: 0.5; }
    /* A screen of room, so that what follows does not tell the answer. A border: JupyterLab measures it with the
       cell, and does not scroll to it. JupyterLab's frame goes inside: outside, it would go around the room. */
    @media screen {
      .pytree-waits { border-bottom: 100vh solid transparent !important; }
      .pytree-waits:focus-visible { box-shadow: inset 0 0 0 1px var(--jp-focus-outline-color) !important; }
      .pytree-waits::after {
        content: "Predict, and run this cell: then the lesson goes on here."; display: block;
        margin: 2px 0 0 calc(var(--jp-cell-prompt-width) + 2 * var(--jp-cell-padding)); padding-left: 8px;
        color: var(--jp-ui-font-color2); font: var(--jp-ui-font-size1) var(--jp-ui-font-family);
      }
    }
    .pytree-choice { padding: 1px 5px; }
    :is(.pytree-choice, .pytree-review):focus { outline: 2px dashed var(--jp-brand-color1); outline-offset: -1px; }
    .pytree-answer.jp-mod-dirty + .jp-CodeCell .pytree-not-attempted > * { display: none !important; }
    .pytree-answer.jp-mod-dirty + .jp-CodeCell .pytree-not-attempted::before {
      content: "○ Written, but not run yet: run the answer cell above, then this cell.";
    }
    .jupyter-widgets-disconnected::before { content: "${RESTARTED}" !important; }
    .jupyter-widgets-disconnected .jupyter-widgets-disconnected::before { content: none !important; }`;

  // What is drawn late moves what is below it: call a function that scrolls to an element until the
  // element stays where it is, or the reader goes elsewhere.
  async function settle({ node }, scroll) {
    let [calm, gone, before] = [0, false, null];
    const [stop, early] = [() => (gone = true), { once: true, capture: true }]; // a text field keeps its keys
    for (const kind of ["wheel", "keydown", "pointerdown"]) node.addEventListener(kind, stop, early);
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
    settle(notebook, () => {
      const heading = cell.node.querySelector(`[data-jupyter-id="${CSS.escape(name)}"]`);
      if (!heading) void notebook.scrollToItem(notebook.widgets.indexOf(cell), "start");
      heading?.scrollIntoView();
      return heading;
    });
  }

  // Make a cell the one that Shift+Enter runs.
  function activate(notebook, cell) {
    notebook.deselectAll();
    Object.assign(notebook, { activeCellIndex: notebook.widgets.indexOf(cell), mode: "command" });
    notebook.activate();
  }
  const leadOn = (notebook, { model }) =>
    activate(notebook, notebook.widgets.find((cell) => `${cell.model.id}-predict` === model.id));

  // JupyterLab scrolls on to the next cell: show this cell's output, or its beginning, or Review's explanation,
  // as soon as the kernel has answered. The focus goes to what comes next: a question or its button "Next".
  function keepInSight(notebook, cell, part = ".jp-Cell-outputWrapper", hasAnswered = () => true) {
    settle(notebook, () => {
      if (!hasAnswered()) return undefined;
      const shown = cell.node.querySelector(".pytree-answered") ?? cell.node.querySelector(part);
      shown?.scrollIntoView({ block: shown.offsetHeight > notebook.node.clientHeight ? "start" : "nearest" });
      focusNext(cell);
      return shown;
    });
  }

  function focusNext({ node }) {
    const next = node.querySelector(NEXT) ?? node.querySelector(".pytree-review");
    if (next?.matches("div")) next.tabIndex = -1; // the question, not option A: nothing looks chosen
    next?.focus({ preventScroll: true });
    return next;
  }

  function watchCells(notebook, watched) {
    for (const cell of notebook.widgets.filter((each) => !watched.has(each))) {
      watched.add(cell);
      const { id, stateChanged } = cell.model;
      cell.toggleClass("pytree-answer", id.endsWith("-answer"));
      const isPredicted = notebook.widgets.some(({ model }) => model.id === `${id}-predict`);
      const makeRoom = ({ executionCount, executionState }) =>
        cell.toggleClass("pytree-waits", isPredicted && !executionCount && executionState !== "running");
      makeRoom(cell.model);
      stateChanged.connect((model, { name, newValue }) => {
        makeRoom(model);
        if (name !== "executionCount" || !newValue) return;
        const below = notebook.widgets.slice(notebook.widgets.indexOf(cell));
        const isRead = below.slice(0, 2).includes(notebook.activeCell); // not in "Run All Cells"
        if (isRead && (IN_SIGHT.test(id) || SHOWS.test(cell.model.sharedModel.source))) keepInSight(notebook, cell);
        if (!isPredicted) return;
        const answer = below.find(({ node }) => node.querySelector("details"));
        answer?.node.querySelector("details").setAttribute("open", "");
        if (answer && isRead) keepInSight(notebook, answer, "details");
      });
    }
  }

  // Letters choose an option, and arrows go from one to the next, instead of JupyterLab's shortcuts: none of
  // these is reached from a question, where Enter would open the cell of text below. Arrows also reach cells
  // whose source is folded, which JupyterLab passes over; there, Enter goes to the question. Before the question's
  // cell was run, Enter and letters run it, instead of opening its source or adding a cell.
  function answerByKey(event, notebook, run) {
    const { target, key, ctrlKey, altKey, metaKey, shiftKey } = event;
    if (!notebook?.widgets || ctrlKey || altKey || metaKey) return;
    const { node, widgets, activeCell, activeCellIndex: at } = notebook;
    const isText = target.closest("input, textarea, .cm-editor");
    const ours = target.closest(isText ? ".pytree-predict" : OURS); // to leave Review's field answers it
    if (ours && key === "Escape") activeCell.node.focus(); // back to the keys of JupyterLab
    const predict = target.closest(".pytree-predict");
    const isLast = target === [...(predict?.querySelectorAll("button, input") ?? [])].at(-1);
    const leavesByTab = isLast && key === "Tab" && !shiftKey; // else past the cell that answers, to what explains it
    if (leavesByTab) event.preventDefault();
    if (leavesByTab || (predict && key === "Enter" && shiftKey)) leadOn(notebook, activeCell);
    if (isText) return;
    const open = widgets.slice(Math.max(0, at - 1), at + 1).map(({ node }) => node.querySelector(OPEN)).find(Boolean);
    const question = target.closest(".pytree-choice") ?? open;
    const buttons = [...(question?.querySelectorAll("button:not(:disabled)") ?? [])];
    const chosen = buttons.find((button) => button.textContent.trim() === key.toUpperCase());
    const moves = key in STEPS && question?.contains(target) && buttons.length > 0;
    const isTyped = key.length === 1 && target.closest(".pytree-predict, .pytree-review");
    const isCommand = !ours && !shiftKey && node.contains(target) && notebook.model.getMetadata("pytree_course");
    const folded = isCommand ? widgets[at + ROWS[key]] : null;
    if (folded?.inputHidden && !folded.isHidden) {
      event.preventDefault();
      event.stopPropagation();
      activate(notebook, folded);
      void notebook.scrollToItem(widgets.indexOf(folded), "smart");
      return;
    }
    const isUnasked = isCommand && activeCell.model.id.endsWith("-predict") && !activeCell.node.querySelector(OURS);
    if (isUnasked && /^([a-e]|Enter)$/i.test(key)) {
      event.preventDefault();
      event.stopPropagation();
      run();
      return;
    }
    const isEntered = isCommand && key === "Enter" && activeCell.inputHidden && focusNext(activeCell);
    if (isEntered || chosen || moves || isTyped || (ours && key === "Enter" && !shiftKey)) event.stopPropagation();
    if (isEntered || chosen || moves) event.preventDefault();
    if (chosen) chosen.click();
    else if (moves) {
      const [from, step] = [buttons.indexOf(target), STEPS[key]];
      buttons.at(from < 0 && step < 0 ? -1 : (from + step) % buttons.length).focus();
    }
  }

  function activateExtension(app) {
    const panels = () => [...app.shell.widgets("main")].filter((each) => each.context?.path);
    app.commands.commandExecuted.connect((_, { id: command, args: { path, id }, result }) => {
      if (!command.endsWith(FOLLOW_LINK) || !id) return;
      const panel = panels().find(({ context }) => context.path === path);
      if (panel) void result.then(() => land(panel, id));
      // JupyterLab looks for it before there is content, and Notebook opens another tab without it.
      else window.localStorage.setItem(REMEMBERED, JSON.stringify({ path, id, at: Date.now() }));
    });
    app.docRegistry.addWidgetExtension("Notebook", {
      createNew: (panel, { model, path, ready }) => {
        const watched = new WeakSet();
        model.metadataChanged.connect((_, { key }) => { // of the kernel: nothing to be saved
          if (key === "language_info" && !model.dirty) queueMicrotask(() => (model.dirty = false));
        });
        void Promise.all([ready, panel.revealed]).then(() => {
          if (panel.isDisposed) return; // Notebook opens it in another tab of the browser
          watchCells(panel.content, watched);
          model.cells.changed.connect(() => queueMicrotask(() => watchCells(panel.content, watched)));
          const link = JSON.parse(window.localStorage.getItem(REMEMBERED));
          if (link?.path !== path) return;
          window.localStorage.removeItem(REMEMBERED);
          if (Date.now() - link.at < STILL_WANTED) land(panel, link.id);
        });
      },
    });
    const run = () => void app.commands.execute("notebook:run-cell");
    document.addEventListener("keydown", (event) => answerByKey(event, app.shell.currentWidget?.content, run), true);
    function react(event) {
      const { target, type } = event;
      const panel = panels().find(({ node }) => node.contains(target));
      const cell = panel?.content.widgets.find(({ node }) => node.contains(target));
      const link = cell && target.closest('a[href^="#"]');
      const question = target.closest(type === "click" ? "button" : "input")?.closest(OURS);
      if (link) {
        event.preventDefault();
        land(panel, link.getAttribute("href"));
      } else if (question) {
        if (question.matches(".pytree-predict")) leadOn(panel.content, cell);
        else if (question.matches(".pytree-help")) keepInSight(panel.content, cell, ".pytree-help");
        else {
          // The kernel disables the options first, and may need long for the explanation below them.
          const explained = () => question.querySelector(".pytree-answered") !== null;
          const goesOn = explained(); // by "Next"
          keepInSight(panel.content, cell, undefined, () => explained() !== goesOn);
        }
      } else if (target.closest(".jp-tocItem")) {
        const contents = [...app.shell.widgets("left")].find(({ id }) => id === "table-of-contents");
        const { text, cellRef } = contents.model.activeHeading;
        if (cellRef) land(app.shell.currentWidget, text.replaceAll(" ", "-"), cellRef.model.id);
      }
    }
    for (const kind of ["click", "change"]) document.addEventListener(kind, react);
    document.head.append(Object.assign(document.createElement("style"), { textContent: STYLE }));
  }
  const plugin = { id: "pytree-course:plugin", autoStart: true, activate: activateExtension };
  window._JUPYTERLAB ??= {}; // a federated module, written by hand: it needs no front-end build
  window._JUPYTERLAB["pytree-course"] = {
    init: () => {},
    get: async () => () => ({ __esModule: true, default: plugin }),
  };
})();
