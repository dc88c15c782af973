"""Bourré: its rules, its tables, and what a seat may know."""
