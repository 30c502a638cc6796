"""What a newcomer meets in the first hour: what the README says, and how long it takes."""
