"""What the list of steps shows (filters, words that are looked for) as names and values, to be named in a link."""

from __future__ import annotations

from app.safe_text import menu_text
from app.views.trajectory import TrajectoryPanel


def view_of(panel: TrajectoryPanel) -> dict[str, str]:
    """Only what differs from the whole list with nothing looked for."""
    told = {name: str(box.currentData() or "") for name, box in panel.filters.boxes.items()}
    told["show"] = str(panel.filter.currentData() or "") if panel.filter.currentIndex() > 0 else ""
    told["find"] = panel.find_box.text().strip()
    told["regex"] = "1" if told["find"] and panel.regex.isChecked() else ""
    return {name: value for name, value in told.items() if value}


def show_view(panel: TrajectoryPanel, view: dict[str, str]) -> None:
    """Show exactly this; names that are not known are passed over."""
    facets = {name: view.get(name, "") for name in panel.filters.boxes}
    panel.filters_button.setChecked(panel.filters_button.isChecked() or any(facets.values()))
    for name, value in facets.items():
        box = panel.filters.boxes[name]
        if value and box.findData(value) < 0:  # nothing here has it: the list says so by being empty
            box.addItem(menu_text(value), value)
        box.setCurrentIndex(max(0, box.findData(value or "")))
    panel.filters.chosen.emit(panel.filters.facets)
    at = max(0, panel.filter.findData(view.get("show", "")))
    if at != panel.filter.currentIndex():
        panel.filter.setCurrentIndex(at)
        panel.filter_chosen.emit(str(panel.filter.currentData()))
    panel.regex.setChecked(view.get("regex") == "1")
    panel.find_box.setText(view.get("find", ""))
