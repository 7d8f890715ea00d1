"""Electronic components, joined when they are variants of one, or described in one data sheet.

Source: the Debian package kicad-symbols 6.0.10, the libraries of the circuit editor KiCad, under
the Creative Commons licence Attribution-ShareAlike 4.0 with an exception for designs.

Node: a component of a larger library, at most 200 of a class, at equal distances in the order of
names. Text: its description. Edge: one is drawn as a variant of the other, both are variants of a
third, or both have the same data sheet; at most twenty do. Class: the library, by a plain name;
libraries of the same kind of parts are put together, and of microcontrollers and FPGAs all are.

Kinds: over 50 classes; names of products and jargon; a third of the nodes isolated; edges from
shared attributes.

Known weaknesses: descriptions are short and follow a pattern within a library. Some libraries are
for what fits nowhere else.
"""

from __future__ import annotations

import re
from collections import defaultdict

from graphs.sources import Made, debian, sharing

LIBRARIES = {
    "Audio circuits": ["Audio"],
    "Audio amplifiers": ["Amplifier_Audio"],
    "Current sense amplifiers": ["Amplifier_Current"],
    "Operational amplifiers": ["Amplifier_Operational"],
    "Analog-to-digital converters": ["Analog_ADC"],
    "Digital-to-analog converters": ["Analog_DAC"],
    "Analog switches and multiplexers": ["Analog_Switch"],
    "Battery management": ["Battery_Management"],
    "Comparators": ["Comparator"],
    "Connectors": ["Connector"],
    "AC/DC converters": ["Converter_ACDC"],
    "DC/DC converter modules": ["Converter_DCDC"],
    "Basic devices": ["Device"],
    "Diodes": ["Diode"],
    "Bridge rectifiers": ["Diode_Bridge"],
    "Character displays": ["Display_Character"],
    "Gate drivers": ["Driver_FET"],
    "LED drivers": ["Driver_LED"],
    "Motor drivers": ["Driver_Motor"],
    "Filters": ["Filter"],
    "Interface circuits": ["Interface"],
    "CAN and LIN transceivers": ["Interface_CAN_LIN"],
    "I/O expanders": ["Interface_Expansion"],
    "UART and RS-232 interfaces": ["Interface_UART"],
    "USB interfaces": ["Interface_USB"],
    "Isolators": ["Isolator"],
    "LED": ["LED"],
    "74-series logic": ["74xx", "74xGxx"],
    "4000-series logic": ["4xxx"],
    "EEPROM memories": ["Memory_EEPROM"],
    "Oscillators": ["Oscillator"],
    "Digital potentiometers": ["Potentiometer_Digital"],
    "Power management": ["Power_Management"],
    "Power protection": ["Power_Protection"],
    "Voltage supervisors": ["Power_Supervisor"],
    "RF circuits": ["RF"],
    "RF amplifiers": ["RF_Amplifier"],
    "RF filters": ["RF_Filter"],
    "RF modules": ["RF_Module"],
    "Voltage references": ["Reference_Voltage"],
    "Regulator controllers": ["Regulator_Controller"],
    "Linear regulators": ["Regulator_Linear"],
    "Switching regulators": ["Regulator_Switching"],
    "Relays": ["Relay"],
    "Solid state relays": ["Relay_SolidState"],
    "Current sensors": ["Sensor_Current"],
    "Magnetic sensors": ["Sensor_Magnetic"],
    "Optical sensors": ["Sensor_Optical"],
    "Temperature sensors": ["Sensor_Temperature"],
    "Switches": ["Switch"],
    "Timers": ["Timer"],
    "Transformers": ["Transformer"],
    "Bipolar transistors": ["Transistor_BJT"],
    "Field-effect transistors": ["Transistor_FET"],
    "Triacs and thyristors": ["Triac_Thyristor"],
    "FPGA": ["FPGA_*"],
    "Microcontrollers": ["MCU_*"],
}
LARGEST = 200
MOST = 20
PART = re.compile(r'^  \(symbol "([^"]+)"(.*?)^  \)', re.MULTILINE | re.DOTALL)
TOLD = re.compile(r'\(property "(ki_description|Datasheet)" "((?:[^"\\]|\\.)*)"')
BASE = re.compile(r'\(extends "([^"]+)"\)')


def build() -> Made:
    """Read the libraries, and take evenly from the large ones."""
    folder = debian("kicad-symbols") / "usr/share/kicad/symbols"
    texts: dict[str, str] = {}
    labels: list[str] = []
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for label, libraries in LIBRARIES.items():
        parts: dict[str, tuple[str, ...]] = {}
        for library in libraries:
            for file in sorted(folder.glob(f"{library}.kicad_sym")):
                for name, said in PART.findall(file.read_text(encoding="utf-8")):
                    told = dict(TOLD.findall(said))
                    base = f"{file.stem}/{(BASE.findall(said) or [name])[0]}"
                    if (
                        text := told.get("ki_description", "")
                        .partition(", script generated")[0]
                        .strip()
                    ):
                        parts[f"{file.stem}/{name}"] = (text, base, told.get("Datasheet", ""))
        names = sorted(parts)
        taken = min(len(names), LARGEST)
        for own in (names[i * len(names) // taken] for i in range(taken)):
            texts[own], base, sheet = parts[own]
            labels.append(label)
            holders[base].append(own)
            if sheet.startswith("http"):
                holders[sheet].append(own)
    return Made(list(texts), list(texts.values()), labels, sharing(holders, MOST))
